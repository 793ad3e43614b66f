import OfferCore

/// `priceIncrease`: the state of a price increase.
package struct PriceIncreaseTest: SubscriptionTestKind {
    package static let name = "priceIncrease"
    package static let code = ReasonCode.priceIncrease
    package static let subject = "The price increase"

    package let states: Set<Subscription.PriceIncrease>

    package init(_ states: Set<Subscription.PriceIncrease>) {
        self.states = states
    }

    package static func read(_ value: some RuleValue) -> Self? {
        value.choices(Subscription.PriceIncrease.self).map(Self.init)
    }

    package func truth(of subscription: Subscription, in context: EvaluationContext) -> Truth {
        // Only renewal info shows whether there is a price increase.
        guard subscription.hasRenewalInfo else { return .unknown }
        return Truth(subscription.priceIncrease.map(states.contains) ?? false)
    }

    package var required: ReasonValue { .texts(states.map(\.rawValue)) }

    package func found(_ subscription: Subscription) -> ReasonValue? {
        subscription.priceIncrease.map { .text($0.rawValue) }
    }

    package func source(_ subscription: Subscription) -> DecisionReason.Source {
        .renewalInfo
    }

    package static func contradiction(among tests: [Self]) -> String? {
        tests.map(\.states).areDisjoint() ? Contradiction.values : nil
    }
}

extension SubscriptionTest {
    package static func priceIncrease(_ states: Set<Subscription.PriceIncrease>) -> Self {
        Self(PriceIncreaseTest(states))
    }
}
