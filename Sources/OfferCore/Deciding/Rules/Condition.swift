/// A condition over the facts about a customer, as the rule language writes it.
package indirect enum Condition: Hashable, Sendable {
    case all([Condition])
    case any([Condition])
    case not(Condition)
    /// Another rule by its name, with its condition.
    case rule(String, Condition)
    case subscription(SubscriptionCondition)
    case test(CustomerTest)
}

/// A condition with a name, for answers and statistics.
package struct Rule: Hashable, Sendable {
    /// Of the configuration file, or of a built-in rule; nil for a condition written in place.
    package let name: String?
    package let condition: Condition

    package init(name: String?, condition: Condition) {
        self.name = name
        self.condition = condition
    }
}

extension Condition {
    /// Whether a subscription in billing retry is asked for, outside any `not`. Only then may a customer with a payment problem
    /// get the offer.
    package var asksForBillingRetry: Bool {
        switch self {
        case .all(let members), .any(let members): members.contains(where: \.asksForBillingRetry)
        case .not, .test: false
        case .rule(_, let condition): condition.asksForBillingRetry
        case .subscription(let condition):
            condition.tests.contains {
                if case .status(let statuses) = $0 { statuses.contains(.billingRetry) } else { false }
            }
        }
    }
}
