package import OfferCore

/// A purchase of a product that does not renew: a non-consumable or a non-renewing subscription.
package struct OneTimePurchase: Hashable, Sendable {
    package let transactionID: TransactionID
    package let productID: ProductID
    /// nil if the App Store does not state it, as in data signed in 2021.
    package let type: ProductType?
    package let at: Timestamp
    /// nil if the buyer is unknown, as in receipts with a product that can be family-shared.
    package let isOwn: Bool?

    /// - Parameter transactions: in ascending order.
    /// - Returns: the purchases that the customer made or may have made, without those that were refunded. The oldest
    ///   comes first. A restore has another transaction ID, and is the same purchase.
    static func all(of transactions: [KnownTransaction], familySharable: Set<ProductID>) -> [OneTimePurchase] {
        let others = transactions.filter { transaction in
            !transaction.purchase.isSubscriptionPeriod && transaction.purchase.type != .consumable
                && !transaction.purchase.isAnothers
        }
        let refunded = Set(others.filter { $0.purchase.revocation != nil }.map(\.originalTransactionID))
        var seen: Set<TransactionID> = []
        return others.filter {
            !refunded.contains($0.originalTransactionID) && seen.insert($0.originalTransactionID).inserted
        }.map { OneTimePurchase($0, familySharable: familySharable) }
    }

    private init(_ transaction: KnownTransaction, familySharable: Set<ProductID>) {
        let purchase = transaction.purchase
        transactionID = transaction.transactionID
        productID = purchase.productID
        type = purchase.type
        at = purchase.purchaseDate
        isOwn = purchase.ownership != nil || !familySharable.contains(purchase.productID) ? true : nil
    }
}
