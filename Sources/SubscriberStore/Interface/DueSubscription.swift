package import OfferCore
package import OfferEligibility

/// A subscription to refresh from the App Store.
package struct DueSubscription: Hashable, Sendable {
    package let app: AppScope
    package let originalTransactionID: TransactionID
    /// The time at which the subscription became due.
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

/// The outcome for a subscription about which the App Store gave no answer.
package struct SettledClaim: Hashable, Sendable {
    package let claim: DueSubscription
    /// The next due time; nil if the subscription is not refreshed until newer data arrives.
    package let dueAt: Timestamp?

    package init(_ claim: DueSubscription, dueAt: Timestamp?) {
        self.claim = claim
        self.dueAt = dueAt
    }
}
