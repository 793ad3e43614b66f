package import OfferCore
package import OfferEligibility
package import SubscriberStore

extension CurrentStore: EventStore {
    package func beginReviews(of app: AppScope, by rules: String, at now: Timestamp) async throws(StoreError) {
        try await write { store throws(StoreError) in try await store.beginReviews(of: app, by: rules, at: now) }
    }

    package func endReviews(of app: AppScope, limit: Int) async throws(StoreError) -> Bool {
        try await write { store throws(StoreError) in try await store.endReviews(of: app, limit: limit) }
    }

    package func enrolCustomers(of app: AppScope, limit: Int) async throws(StoreError) -> Bool {
        try await write { store throws(StoreError) in try await store.enrolCustomers(of: app, limit: limit) }
    }

    package func dueReviews(
        of app: AppScope, by now: Timestamp, limit: Int
    ) async throws(StoreError) -> [DueReview] {
        try await read { store throws(StoreError) in try await store.dueReviews(of: app, by: now, limit: limit) }
    }

    package func oldestDueReview(of app: AppScope, by now: Timestamp) async throws(StoreError) -> Timestamp? {
        try await read { store throws(StoreError) in try await store.oldestDueReview(of: app, by: now) }
    }

    package func reviewStates(
        of subscriptions: Set<TransactionID>, in app: AppScope
    ) async throws(StoreError) -> ReviewStates {
        try await read { store throws(StoreError) in try await store.reviewStates(of: subscriptions, in: app) }
    }

    package func settle(_ review: SettledReview) async throws(StoreError) -> Bool {
        try await write { store throws(StoreError) in try await store.settle(review) }
    }

    package func alarms(
        among redemptions: [LedgerRedemption], in app: AppScope
    ) async throws(StoreError) -> Set<Int64> {
        try await read { store throws(StoreError) in try await store.alarms(among: redemptions, in: app) }
    }

    package func eligibleSince(
        _ productID: ProductID, _ offerID: OfferID, in app: AppScope, numbered numbers: ClosedRange<Int64>
    ) async throws(StoreError) -> [TransactionID: Timestamp] {
        try await read { store throws(StoreError) in
            try await store.eligibleSince(productID, offerID, in: app, numbered: numbers)
        }
    }
}
