import OfferCore

/// The known periods of one subscription in ascending order, and the values that they share.
struct SubscriptionPeriods {
    let originalTransactionID: TransactionID
    /// The periods, at least one.
    let periods: [Period]
    /// The refunds of the transactions. A refund of some transactions of a period does not revoke the period.
    let refunds: [Refund]
    let groupID: String?
    let appTransactionID: TransactionID?
    /// nil if the buyer is unknown.
    let ownership: Subscription.Ownership?

    /// True if someone else bought the subscription.
    var isAnothers: Bool { ownership.map { $0 != .purchased } ?? false }

    /// - Returns: the subscriptions in ascending order of `originalTransactionId`.
    static func all(
        of transactions: [KnownTransaction], groups: [ProductID: String], familySharable: Set<ProductID> = []
    ) -> [SubscriptionPeriods] {
        let subscriptions = transactions.filter(\.purchase.isSubscriptionPeriod)
        let byID = Dictionary(grouping: subscriptions, by: \.originalTransactionID)
        return byID.keys.sorted { $0.precedes($1) }.map { id in
            SubscriptionPeriods(id, byID[id] ?? [], groups, familySharable)
        }
    }

    /// - Parameters:
    ///   - groups: used if no transaction names the group, as in receipts.
    ///   - familySharable: the products that a receipt may contain as a family share.
    private init(
        _ id: TransactionID, _ transactions: [KnownTransaction], _ groups: [ProductID: String],
        _ familySharable: Set<ProductID>
    ) {
        originalTransactionID = id
        let lineItems = Period.lineItems(of: transactions)
        periods = Period.joined(lineItems)
        let purchases = transactions.map(\.purchase)
        groupID =
            purchases.lazy.compactMap(\.subscriptionGroupID).first
            ?? purchases.lazy.compactMap { groups[$0.productID] }.first
        appTransactionID = purchases.lazy.compactMap(\.appTransactionID).first
        ownership =
            purchases.lazy.compactMap(\.ownership).first.map(Subscription.Ownership.init)
            ?? Self.ownershipByReceipt(transactions, familySharable)
        let isAnothers = ownership.map { $0 != .purchased } ?? false
        refunds = lineItems.compactMap { Refund($0.transactionID, $0.purchase, isAnothers: isAnothers) }
    }

    /// Receipts contain no ownership. Purchases without a JWS count as bought, unless a product can be family-shared.
    private static func ownershipByReceipt(
        _ transactions: [KnownTransaction], _ familySharable: Set<ProductID>
    ) -> Subscription.Ownership? {
        let isBought = transactions.allSatisfy { transaction in
            !transaction.isSigned && !familySharable.contains(transaction.purchase.productID)
        }
        return isBought ? .purchased : nil
    }
}
