package import OfferCore
package import OfferEligibility

/// A subscription to refresh from the App Store.
package struct DueSubscription: Hashable, Sendable {
    package let app: AppScope
    package let originalTransactionID: TransactionID
    /// The time at which it became due.
    package let dueAt: Timestamp
    /// The next due time, unless newer data arrives.
    package let nextDueAt: Timestamp

    package init(app: AppScope, originalTransactionID: TransactionID, dueAt: Timestamp, nextDueAt: Timestamp) {
        self.app = app
        self.originalTransactionID = originalTransactionID
        self.dueAt = dueAt
        self.nextDueAt = nextDueAt
    }
}

/// The outcome for a subscription without an answer from the App Store.
package struct SettledClaim: Hashable, Sendable {
    package let claim: DueSubscription
    /// The next due time; nil if it is not refreshed until newer data arrives.
    package let dueAt: Timestamp?

    package init(_ claim: DueSubscription, dueAt: Timestamp?) {
        self.claim = claim
        self.dueAt = dueAt
    }
}
