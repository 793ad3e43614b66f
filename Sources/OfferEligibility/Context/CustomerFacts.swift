package import OfferCore

/// The facts about one customer in one app and environment at the time of a decision.
package struct CustomerFacts: Sendable {
    package let state: SubscriberState
    package let environment: AppStoreEnvironment
    /// The facts that the team has supplied, by name.
    package let team: [String: TeamFactValue]
    /// The first version of the app that the customer bought or downloaded. Always nil outside production.
    package let originalAppVersion: AppVersion?
    package let originalPurchase: Timestamp?
    /// The customer's recorded places in samples, by sample. A place never changes.
    package let places: [String: Bool]
    /// The place in the app where an offer is to appear; nil if the request does not name it.
    package let placement: String?
    /// The campaign whose link the request shows; nil if it shows none, or one that does not count for the customer.
    package let link: String?
    package let events: [OfferEvent]
    /// The customer's grants, in any state.
    package let grants: [OfferGrant]

    package init(
        state: SubscriberState, environment: AppStoreEnvironment, team: [String: TeamFactValue] = [:],
        originalAppVersion: AppVersion? = nil, originalPurchase: Timestamp? = nil, places: [String: Bool] = [:],
        placement: String? = nil, link: String? = nil, events: [OfferEvent] = [], grants: [OfferGrant] = []
    ) {
        self.state = state
        self.environment = environment
        self.team = team
        self.originalAppVersion = environment == .production ? originalAppVersion : nil
        self.originalPurchase = originalPurchase
        self.places = places
        self.placement = placement
        self.link = link
        self.events = events
        self.grants = grants
    }
}

extension SubscriberState {
    /// Returns the customer's current subscription in a group. Subscriptions with access come first, then those whose
    /// period began last. A customer with two Apple Accounts can have several subscriptions in a group.
    func current(inGroup groupID: String) -> Subscription? {
        subscriptions.filter { $0.subscriptionGroupID == groupID }.max { $0.precedes($1) }
    }

    /// The customer's current subscription among all groups.
    var main: Subscription? { subscriptions.max { $0.precedes($1) } }

    /// Returns the group of a product, as one of the customer's subscriptions names it; nil if none does.
    func group(of productID: ProductID) -> String? {
        subscriptions.first { $0.productID == productID }?.subscriptionGroupID
    }

    /// The current subscription of each group. A subscription without a known group counts as its own group.
    var current: [Subscription] {
        subscriptions.filter { candidate in
            guard let groupID = candidate.subscriptionGroupID else { return true }
            return current(inGroup: groupID) == candidate
        }
    }

    /// Returns the subscriptions of a group that could redeem an offer: the current one first, then others that have
    /// not ended.
    func redeemableSubscriptions(inGroup groupID: String) -> [Subscription] {
        guard let current = current(inGroup: groupID) else { return [] }
        let others = subscriptions.filter { other in
            other.subscriptionGroupID == groupID && !other.hasEnded
                && other.originalTransactionID != current.originalTransactionID
        }
        return [current] + others
    }

    /// The source that could supply the rest of the history.
    var historySource: DecisionReason.Source { isAppStoreSilent ? .appStore : .history }
}

extension Subscription {
    fileprivate func precedes(_ other: Subscription) -> Bool {
        guard hasAccess == other.hasAccess else { return other.hasAccess }
        guard purchasedAt == other.purchasedAt else { return purchasedAt < other.purchasedAt }
        return originalTransactionID.precedes(other.originalTransactionID)
    }

    /// True if the subscription gives access now.
    var hasAccess: Bool { status == .active || status == .billingGracePeriod }

    var hasEnded: Bool { settled && (status == .expired || status == .revoked) }
}
