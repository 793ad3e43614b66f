package import OfferCore
package import OfferEligibility

extension SQLStore {
    package func beginReviews(of app: AppScope, by rules: String, at now: Timestamp) async throws(StoreError) {
        let isBegun = try await read { db in
            try AppTable.id(of: app, db).flatMap { try ReviewTable.app($0, db) }?.rules == rules
        }
        guard !isBegun else { return }
        // The lock keeps out changes that add subscriptions, so that each of them is either old or new.
        try await write(.everything) { db in
            try ReviewTable.begin(AppTable.makeID(of: app, db), by: rules, at: now, db)
        }
    }

    package func endReviews(of app: AppScope, limit: Int) async throws(StoreError) -> Bool {
        let isReviewed = try await read { db in
            try AppTable.id(of: app, db).map { try ReviewTable.isKnown($0, db) } ?? false
        }
        guard isReviewed else { return false }
        return try await write(.nothing) { db in
            guard let app = try AppTable.id(of: app, db) else { return false }
            return try ReviewTable.remove(app, limit: limit, db)
        }
    }

    package func enrolCustomers(of app: AppScope, limit: Int) async throws(StoreError) -> Bool {
        guard try await read({ try ReviewTable.isEnrolling(app, $0) }) else { return false }
        return try await write(.nothing) { db in
            guard let id = try AppTable.id(of: app, db), let known = try ReviewTable.app(id, db),
                known.enrolled < known.enrolling
            else { return false }
            let end = min(known.enrolled + Int64(limit), known.enrolling)
            try ReviewTable.enrol(known.enrolled + 1...end, id, db)
            return end < known.enrolling
        }
    }

    package func dueReviews(
        of app: AppScope, by now: Timestamp, limit: Int
    ) async throws(StoreError) -> [DueReview] {
        try await read { db in
            guard let id = try AppTable.id(of: app, db), let known = try ReviewTable.app(id, db) else { return [] }
            return try ReviewTable.due(id, by: now, limit: limit, db).map { due in
                DueReview(
                    app: app, subscription: due.subscription, states: due.state, version: due.version,
                    since: known.since, isNew: due.subscription > known.lastSubscription, isChanged: due.isChanged)
            }
        }
    }

    package func oldestDueReview(of app: AppScope, by now: Timestamp) async throws(StoreError) -> Timestamp? {
        try await read { db in try AppTable.id(of: app, db).flatMap { try ReviewTable.oldestDue($0, by: now, db) } }
    }

    package func reviewStates(
        of subscriptions: Set<TransactionID>, in app: AppScope
    ) async throws(StoreError) -> ReviewStates {
        try await read { db in
            guard let app = try AppTable.id(of: app, db) else { return ReviewStates([:]) }
            return try ReviewTable.states(of: subscriptions, app, db).reduce(ReviewStates([:])) { $0.adding($1) }
        }
    }

    package func settle(_ review: SettledReview) async throws(StoreError) -> Bool {
        let scope = review.due.app
        let originals =
            [review.originalTransactionID].compactMap(\.self) + review.representatives
            + review.departures.map(\.representative)
        return try await write(.names(Set(originals.map { .subscription($0, scope) }))) { db in
            guard let app = try AppTable.id(of: scope, db),
                try ReviewTable.settle(review.due, review.states, next: review.next, db)
            else { return false }
            for representative in review.representatives { try ReviewTable.remind(representative, app, db) }
            for departure in review.departures {
                guard let target = try SubscriptionTable.id(of: departure.representative, app, db) else { continue }
                try ReviewTable.add(ReviewStates([departure.account: departure.state]), to: target, db)
                try ForwardTable.moveEvents(of: review.due.subscription, naming: departure.identifier, to: target, db)
            }
            for url in review.receivers {
                let receiver = try ReceiverTable.makeID(of: url, db)
                for event in review.events {
                    try ForwardTable.add(event, to: receiver, of: review.due.subscription, app, at: review.at, db)
                }
            }
            return true
        }
    }

    package func alarms(
        among redemptions: [LedgerRedemption], in app: AppScope
    ) async throws(StoreError) -> Set<Int64> {
        try await read { db in
            guard let id = try AppTable.id(of: app, db) else { return [] }
            let found = try redemptions.filter { redemption in
                try LedgerCoverageTable.covers(redemption, id, db)
                    && RedemptionTable.isUnexplained(redemption.number, db)
            }
            return Set(found.map(\.number))
        }
    }

    package func eligibleSince(
        _ productID: ProductID, _ offerID: OfferID, in app: AppScope, numbered numbers: ClosedRange<Int64>
    ) async throws(StoreError) -> [TransactionID: Timestamp] {
        try await read { db in
            guard let app = try AppTable.id(of: app, db) else { return [:] }
            let all = try ReviewTable.states(of: app, numbers, db).compactMap { original, states in
                states.byAccount.values.compactMap { $0.eligibleSince(productID, offerID) }.max().map { (original, $0) }
            }
            return Dictionary(all) { first, _ in first }
        }
    }
}
