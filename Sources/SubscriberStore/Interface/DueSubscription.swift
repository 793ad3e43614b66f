package import OfferCore

/// A subscription about which the App Store should be asked.
package struct DueSubscription: Hashable, Sendable {
    package let app: AppScope
    package let originalTransactionID: TransactionID
    /// Since when.
    package let dueAt: Timestamp

    package init(app: AppScope, originalTransactionID: TransactionID, dueAt: Timestamp) {
        self.app = app
        self.originalTransactionID = originalTransactionID
        self.dueAt = dueAt
    }
}
