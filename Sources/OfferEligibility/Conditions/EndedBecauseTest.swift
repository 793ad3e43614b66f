import OfferCore

/// `endedBecause`: the reason why the subscription ended.
package struct EndedBecauseTest: SubscriptionTestKind {
    package static let name = "endedBecause"
    package static let code = ReasonCode.endedBecause
    package static let subject = "The reason for the end"

    package let reasons: Set<Subscription.EndReason>

    package init(_ reasons: Set<Subscription.EndReason>) {
        self.reasons = reasons
    }

    package static func read(_ value: some RuleValue) -> Self? {
        value.choices(Subscription.EndReason.self).map(Self.init)
    }

    package func truth(of subscription: Subscription, in context: EvaluationContext) -> Truth {
        guard subscription.settled else { return .unknown }
        return Truth(subscription.endedBecause.map(reasons.contains) ?? false)
    }

    package var required: ReasonValue { .texts(reasons.map(\.rawValue)) }

    package func found(_ subscription: Subscription) -> ReasonValue? {
        subscription.endedBecause.map { .text($0.rawValue) }
    }

    package func source(_ subscription: Subscription) -> DecisionReason.Source {
        .notification
    }

    package static func contradiction(among tests: [Self]) -> String? {
        tests.map(\.reasons).areDisjoint() ? Contradiction.values : nil
    }
}

extension SubscriptionTest {
    package static func endedBecause(_ reasons: Set<Subscription.EndReason>) -> SubscriptionTest {
        SubscriptionTest(EndedBecauseTest(reasons))
    }
}
