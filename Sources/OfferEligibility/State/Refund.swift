package import OfferCore

/// A refunded purchase. The end of a share or a seat is not a refund.
package struct Refund: Hashable, Sendable {
    package let transactionID: TransactionID
    package let productID: ProductID
    package let at: Timestamp
    /// nil if the App Store gives no reason, as in receipts.
    package let reason: Reason?
    /// The refunded share of the price in thousandths of a percent; nil in data signed before December 2025.
    package let percentage: Int64?

    package enum Reason: String, CaseIterable, Hashable, Sendable {
        /// An actual or perceived issue in the app.
        case appIssue = "app_issue"
        case other
    }

    init?(_ transactionID: TransactionID, _ purchase: Purchase, isAnothers: Bool) {
        guard let revocation = purchase.revocation, revocation.type != .family, !isAnothers else { return nil }
        self.transactionID = transactionID
        productID = purchase.productID
        at = revocation.date
        reason = revocation.reason.map { $0 == .appIssue ? .appIssue : .other }
        percentage = revocation.percentage
    }
}
