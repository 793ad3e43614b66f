/// The known periods of one subscription, ascending, and what they agree on.
struct SubscriptionPeriods {
    let originalTransactionID: TransactionID
    /// Not empty.
    let periods: [Period]
    let groupID: String?
    let appTransactionID: TransactionID?
    let ownership: Subscription.Ownership?

    var isFamilyShared: Bool { ownership == .familyShared }

    /// - Returns: one for each `originalTransactionId`, the lowest first.
    static func all(of transactions: [KnownTransaction], groups: [ProductID: String]) -> [SubscriptionPeriods] {
        let subscriptions = transactions.filter(\.purchase.isSubscriptionPeriod)
        let byID = Dictionary(grouping: subscriptions, by: \.originalTransactionID)
        return byID.keys.sorted { $0.precedes($1) }.map { id in
            SubscriptionPeriods(id, byID[id] ?? [], groups)
        }
    }

    /// - Parameter groups: used where no transaction names the group, as in receipts.
    private init(_ id: TransactionID, _ transactions: [KnownTransaction], _ groups: [ProductID: String]) {
        originalTransactionID = id
        periods = Period.all(of: transactions)
        let purchases = transactions.map(\.purchase)
        groupID =
            purchases.lazy.compactMap(\.subscriptionGroupID).first
            ?? purchases.lazy.compactMap { groups[$0.productID] }.first
        appTransactionID = purchases.lazy.compactMap(\.appTransactionID).first
        ownership = purchases.lazy.compactMap(\.ownership).compactMap(Subscription.Ownership.init).first
    }
}
