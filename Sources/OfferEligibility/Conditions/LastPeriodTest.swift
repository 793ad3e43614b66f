import OfferCore

/// `lastPeriod`: the kind of the last period.
package struct LastPeriodTest: SubscriptionTestKind {
    package static let name = "lastPeriod"
    package static let code = ReasonCode.lastPeriod
    package static let subject = "The kind of the last period"

    package let kinds: Set<Subscription.PeriodKind>

    package init(_ kinds: Set<Subscription.PeriodKind>) {
        self.kinds = kinds
    }

    package static func read(_ value: some RuleValue) -> Self? {
        value.choices(Subscription.PeriodKind.self).map(Self.init)
    }

    package func truth(of subscription: Subscription, in context: EvaluationContext) -> Truth {
        Truth(kinds.contains(subscription.lastPeriod))
    }

    package var required: ReasonValue { .texts(kinds.map(\.rawValue)) }

    package func found(_ subscription: Subscription) -> ReasonValue? {
        .text(subscription.lastPeriod.rawValue)
    }

    package func source(_ subscription: Subscription) -> DecisionReason.Source {
        .transaction
    }

    package static func contradiction(among tests: [Self]) -> String? {
        tests.map(\.kinds).areDisjoint() ? Contradiction.values : nil
    }
}

extension SubscriptionTest {
    package static func lastPeriod(_ kinds: Set<Subscription.PeriodKind>) -> SubscriptionTest {
        SubscriptionTest(LastPeriodTest(kinds))
    }
}
