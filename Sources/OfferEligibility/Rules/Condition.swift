import OfferCore

/// A condition on the facts about a customer.
package indirect enum Condition: Hashable, Sendable {
    case all([Condition])
    case any([Condition])
    case not(Condition)
    /// A reference to another rule: its name and its condition.
    case rule(String, Condition)
    case subscription(SubscriptionCondition)
    case test(CustomerTest)
}

/// A condition with an optional name for responses and statistics.
package struct Rule: Hashable, Sendable {
    /// The name of a configured or built-in rule; nil for an inline condition.
    package let name: String?
    package let condition: Condition
    /// The tests of samples in the condition.
    let shares: [ShareTest]

    package init(name: String?, condition: Condition) {
        self.name = name
        self.condition = condition
        shares = condition.shares
    }
}

extension Condition {
    /// Returns true if the rule tests this subscription for billing retry outside any `not`. Only then may a customer
    /// in billing retry get the offer. Tests of other groups' subscriptions are ignored.
    func requiresBillingRetry(of subscription: Subscription, offeredIn groupID: String?) -> Bool {
        switch self {
        case .all(let members), .any(let members):
            members.contains { $0.requiresBillingRetry(of: subscription, offeredIn: groupID) }
        case .not, .test: false
        case .rule(_, let condition): condition.requiresBillingRetry(of: subscription, offeredIn: groupID)
        case .subscription(let condition):
            condition.looks(at: subscription, offeredIn: groupID)
                && condition.tests.contains { ($0.kind as? StatusTest)?.statuses.contains(.billingRetry) == true }
        }
    }
}

extension SubscriptionCondition {
    /// Returns true if a subscription is in one of the groups and for one of the products.
    fileprivate func looks(at subscription: Subscription, offeredIn groupID: String?) -> Bool {
        guard products?.contains(subscription.productID) ?? true else { return false }
        return switch groups {
        case .any: true
        case .offered: subscription.subscriptionGroupID == groupID
        case .some(let ids): subscription.subscriptionGroupID.map(ids.contains) ?? false
        }
    }
}
