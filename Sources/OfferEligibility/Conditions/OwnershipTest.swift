import OfferCore

/// `ownership`: the way the customer obtained the subscription.
package struct OwnershipTest: SubscriptionTestKind {
    package static let name = "ownership"
    package static let code = ReasonCode.ownership
    package static let subject = "The ownership"
    package static let isLasting = true

    package let ownerships: Set<Subscription.Ownership>

    package init(_ ownerships: Set<Subscription.Ownership>) {
        self.ownerships = ownerships
    }

    package static func read(_ value: some RuleValue) -> Self? {
        value.choices(Subscription.Ownership.self).map(Self.init)
    }

    package func truth(of subscription: Subscription, in context: EvaluationContext) -> Truth {
        Truth(subscription.ownership.map(ownerships.contains))
    }

    package var required: ReasonValue { .texts(ownerships.map(\.rawValue)) }

    package func found(_ subscription: Subscription) -> ReasonValue? {
        subscription.ownership.map { .text($0.rawValue) }
    }

    package func source(_ subscription: Subscription) -> DecisionReason.Source {
        .transaction
    }

    package static func contradiction(among tests: [Self]) -> String? {
        tests.map(\.ownerships).areDisjoint() ? Contradiction.values : nil
    }
}

extension SubscriptionTest {
    package static func ownership(_ ownerships: Set<Subscription.Ownership>) -> SubscriptionTest {
        SubscriptionTest(OwnershipTest(ownerships))
    }
}
