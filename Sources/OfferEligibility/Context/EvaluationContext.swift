package import OfferCore

/// The input of a condition: a customer, the offered product and the time.
///
/// All rules of a product's offers share one context. It is a class, because copying it costs more than evaluating a
/// condition.
package final class EvaluationContext: Sendable {
    let facts: CustomerFacts
    /// The subscription group of the offered product; nil if it is unknown.
    let groupID: String?
    /// The subscriptions in that group that could redeem the offer. The current one comes first.
    let redeemableSubscriptions: [SubscriptionUnderTest]
    /// The current subscription in that group, if there is one.
    let offered: [SubscriptionUnderTest]
    /// The current subscription of each group.
    let current: [SubscriptionUnderTest]
    let products: ProductTraits
    let now: Timestamp
    /// The speed of time in rules, as a multiple of real time: 1, except in the sandbox.
    let speed: Int
    /// The assumed places in samples; none for the customer's own places.
    let assumedPlaces: [String: Bool]

    /// - Parameter sandboxSpeed: the ``speed`` for customers of the sandbox.
    package init(
        _ facts: CustomerFacts, offering productID: ProductID, products: ProductTraits, sandboxSpeed: Int = 1,
        at now: Timestamp
    ) {
        self.facts = facts
        self.products = products
        self.now = now
        speed = facts.environment == .sandbox ? sandboxSpeed : 1
        assumedPlaces = [:]
        groupID = Self.group(of: productID, products, facts)
        redeemableSubscriptions = (groupID.map(facts.state.redeemableSubscriptions) ?? []).map(
            SubscriptionUnderTest.init)
        offered = Array(redeemableSubscriptions.prefix(1))
        current = facts.state.current.map(SubscriptionUnderTest.init)
    }

    private init(_ other: EvaluationContext, assuming places: [String: Bool]) {
        (facts, products, now, speed) = (other.facts, other.products, other.now, other.speed)
        (groupID, redeemableSubscriptions) = (other.groupID, other.redeemableSubscriptions)
        (offered, current) = (other.offered, other.current)
        assumedPlaces = places
    }

    /// Returns the same context for a customer with these places in samples.
    func placing(_ places: [String: Bool]) -> EvaluationContext { EvaluationContext(self, assuming: places) }

    /// The current subscription in the offered group.
    var subscription: Subscription? { offered.first?.subscription }

    /// Returns the subscription group of a product; nil if neither the catalogue nor a subscription names it.
    func group(of productID: ProductID) -> String? { Self.group(of: productID, products, facts) }

    private static func group(of productID: ProductID, _ products: ProductTraits, _ facts: CustomerFacts) -> String? {
        products.groups[productID] ?? facts.state.group(of: productID)
    }

    /// Returns the current subscription of a group.
    func current(inGroup groupID: String) -> SubscriptionUnderTest? {
        current.first { $0.subscription.subscriptionGroupID == groupID }
    }

    /// Returns true if all redemptions of these offers are known.
    ///
    /// The complete history of a group is sufficient only for the offers that the catalogue lists for its products.
    /// - Parameter offers: nil for any promotional offer of the app.
    func knowsAllRedemptions(of offers: Set<String>?) -> Bool {
        let history = facts.state.history
        if history.isOfApp { return true }
        guard let offers, !history.groups.isEmpty else { return false }
        return offers.allSatisfy { offer in
            guard let productIDs = products.productIDs[offer], !productIDs.isEmpty else { return false }
            return productIDs.allSatisfy { group(of: $0).map(history.groups.contains) ?? false }
        }
    }

    /// Returns a duration as the rules count it.
    func duration(since time: Timestamp) -> Duration { (now - time) * speed }

    /// Returns the time at which a duration until now, as the rules count it, began.
    func start(of duration: Duration) -> Timestamp { now - duration / speed }

    func isWithin(_ duration: Duration?, _ time: Timestamp) -> Bool {
        duration.map { self.duration(since: time) <= $0 } ?? true
    }
}

/// A subscription that conditions test. It is a class, because copying its many members costs more than a test.
final class SubscriptionUnderTest: Sendable {
    let subscription: Subscription

    init(_ subscription: Subscription) {
        self.subscription = subscription
    }
}

/// The groups, ranks and offers of products in the catalogue.
package struct ProductTraits: Hashable, Sendable {
    package let groups: [ProductID: String]
    /// The rank of each product within its group. A greater number is a higher rank.
    package let ranks: [ProductID: Int]
    /// The products of each offer ID.
    package let productIDs: [String: Set<ProductID>]

    /// - Parameter offers: the offers of each product, with and without a rule.
    package init(
        groups: [ProductID: String] = [:], ranks: [ProductID: Int] = [:], offers: [ProductID: Set<OfferID>] = [:]
    ) {
        self.groups = groups
        self.ranks = ranks
        productIDs = offers.reduce(into: [:]) { productIDs, product in
            for offer in product.value { productIDs[offer.text.description, default: []].insert(product.key) }
        }
    }

    /// Returns the greatest rank in the group of a product; nil if the product has no rank.
    func highestRank(beside productID: ProductID) -> Int? {
        guard ranks[productID] != nil, let group = groups[productID] else { return nil }
        return ranks.filter { groups[$0.key] == group }.values.max()
    }
}
