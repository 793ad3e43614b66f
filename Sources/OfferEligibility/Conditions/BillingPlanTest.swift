import OfferCore

/// `billingPlan`: the billing plan of the current period.
package struct BillingPlanTest: SubscriptionTestKind {
    package static let name = "billingPlan"
    package static let code = ReasonCode.billingPlan
    package static let subject = "The billing plan"

    package let plans: Set<BillingPlanType>

    package init(_ plans: Set<BillingPlanType>) {
        self.plans = plans
    }

    package static func read(_ value: some RuleValue) -> Self? {
        value.values(among: BillingPlanType.known).map(Self.init)
    }

    package func truth(of subscription: Subscription, in context: EvaluationContext) -> Truth {
        Truth(subscription.billingPlan.map(plans.contains))
    }

    package var required: ReasonValue { .texts(plans.map(\.rawValue)) }

    package func found(_ subscription: Subscription) -> ReasonValue? {
        subscription.billingPlan.map { .text($0.rawValue) }
    }

    package func source(_ subscription: Subscription) -> DecisionReason.Source { .transaction }

    package static func contradiction(among tests: [Self]) -> String? {
        tests.map(\.plans).areDisjoint() ? Contradiction.values : nil
    }
}

extension SubscriptionTest {
    package static func billingPlan(_ plans: Set<BillingPlanType>) -> SubscriptionTest {
        SubscriptionTest(BillingPlanTest(plans))
    }
}
