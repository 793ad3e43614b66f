package import OfferCore
package import OfferEligibility

/// A subscription about which the App Store should be asked.
package struct DueSubscription: Hashable, Sendable {
    package let app: AppScope
    package let originalTransactionID: TransactionID
    /// Since when.
    package let dueAt: Timestamp
    /// When it is due again, unless something newer arrives.
    package let nextDueAt: Timestamp

    package init(app: AppScope, originalTransactionID: TransactionID, dueAt: Timestamp, nextDueAt: Timestamp) {
        self.app = app
        self.originalTransactionID = originalTransactionID
        self.dueAt = dueAt
        self.nextDueAt = nextDueAt
    }
}

/// What became of a subscription that the App Store did not answer about.
package struct SettledClaim: Hashable, Sendable {
    package let claim: DueSubscription
    /// When it is due again; nil if it is not asked about until something newer arrives.
    package let dueAt: Timestamp?

    package init(_ claim: DueSubscription, dueAt: Timestamp?) {
        self.claim = claim
        self.dueAt = dueAt
    }
}
