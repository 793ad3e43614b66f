package import OfferCore

/// A period of a subscription, for people. The decisions use ``Subscription``.
package struct SubscriptionPeriod: Hashable, Sendable {
    package let transactionID: TransactionID
    package let originalTransactionID: TransactionID
    package let productID: ProductID
    package let start: Timestamp
    /// The end of the paid time. A refund does not change it.
    package let end: Timestamp
    package let kind: Subscription.PeriodKind
    package let offerID: String?
    /// nil unless the period was refunded.
    package let refundedAt: Timestamp?

    /// - Parameter isAnothers: true for a share or a seat. Its end is no refund.
    init(_ period: Period, isAnothers: Bool) {
        transactionID = period.transactionID
        originalTransactionID = period.originalTransactionID
        productID = period.purchase.productID
        start = period.start
        end = period.end
        kind = Subscription.PeriodKind(period.purchase.offer)
        offerID = period.purchase.offer?.identifier
        let revocation = period.purchase.revocation
        refundedAt = isAnothers || revocation?.type == .family ? nil : revocation?.date
    }
}
