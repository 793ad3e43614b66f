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

    init(_ period: Period) {
        transactionID = period.transactionID
        originalTransactionID = period.originalTransactionID
        productID = period.purchase.productID
        start = period.start
        end = period.end
        kind = Subscription.PeriodKind(period.purchase.offer)
        offerID = period.purchase.offer?.identifier
        let revocation = period.purchase.revocation
        refundedAt = revocation?.type == .family ? nil : revocation?.date
    }
}

extension OwnedCustomer {
    /// Returns the known periods of the customer's subscriptions, by subscription, the oldest first.
    package func periods(in app: Catalogue.App) -> [SubscriptionPeriod] {
        let transactions = KnownTransaction.all(in: facts)
        return SubscriptionPeriods.all(of: transactions, groups: app.groups, familySharable: app.familySharable)
            .flatMap { $0.periods.map(SubscriptionPeriod.init) }
    }
}
