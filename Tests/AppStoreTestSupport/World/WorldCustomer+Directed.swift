/// What a directed customer is told to do. Each step returns what the App Store reports of it.
extension WorldCustomer {
    mutating func subscribe(to product: String, at time: Int64) -> WorldEvent {
        let isFirst = subscriptions[0].transactions.isEmpty
        buy(product, 0, at: time, offer: nil)
        return event("SUBSCRIBED", isFirst ? "INITIAL_BUY" : "RESUBSCRIBE", 0, at: time)
    }

    mutating func setAutoRenew(_ isOn: Bool, at time: Int64) -> WorldEvent {
        subscriptions[0].autoRenews = isOn
        return event("DID_CHANGE_RENEWAL_STATUS", isOn ? "AUTO_RENEW_ENABLED" : "AUTO_RENEW_DISABLED", 0, at: time)
    }

    /// Redeems a promotional offer: for the next period of an active subscription, and at once for one that has ended.
    mutating func redeem(_ offerID: String, of product: String, at time: Int64) -> WorldEvent {
        let offer = WorldOffer(type: 2, identifier: offerID, discountType: "PAY_AS_YOU_GO")
        guard subscriptions[0].status(at: time) == 1 else {
            buy(product, 0, at: time, offer: offer)
            return event("SUBSCRIBED", "RESUBSCRIBE", 0, at: time)
        }
        subscriptions[0].nextProductID = product
        subscriptions[0].nextOffer = offer
        subscriptions[0].autoRenews = true
        return event("OFFER_REDEEMED", nil, 0, at: time)
    }
}
