import OfferCore

/// `status`: the state of the subscription.
package struct StatusTest: SubscriptionTestKind {
    package static let name = "status"
    package static let code = ReasonCode.subscriptionStatus
    package static let subject = "The subscription's status"

    package let statuses: Set<Subscription.Status>

    package init(_ statuses: Set<Subscription.Status>) {
        self.statuses = statuses
    }

    package static func read(_ value: some RuleValue) -> Self? {
        value.choices(Subscription.Status.self).map(Self.init)
    }

    package func truth(of subscription: Subscription, in context: EvaluationContext) -> Truth {
        subscription.settled ? Truth(statuses.contains(subscription.status)) : .unknown
    }

    package var required: ReasonValue { .texts(statuses.map(\.rawValue)) }

    package func found(_ subscription: Subscription) -> ReasonValue? {
        .text(subscription.status.rawValue)
    }

    package func source(_ subscription: Subscription) -> DecisionReason.Source {
        .notification
    }

    package static func contradiction(among tests: [Self]) -> String? {
        tests.map(\.statuses).areDisjoint() ? "no subscription has two statuses" : nil
    }
}

extension SubscriptionTest {
    package static func status(_ statuses: Set<Subscription.Status>) -> SubscriptionTest {
        SubscriptionTest(StatusTest(statuses))
    }
}
