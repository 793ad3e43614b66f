import OfferCore

/// `autoRenew`: the state of auto-renewal.
package struct AutoRenewTest: SubscriptionTestKind {
    package static let name = "autoRenew"
    package static let code = ReasonCode.autoRenew
    package static let subject = "Auto-renew"

    package let isOn: Bool

    package init(_ isOn: Bool) {
        self.isOn = isOn
    }

    package static func read(_ value: some RuleValue) -> Self? {
        switch value.text {
        case "on"?, "true"?: Self(true)
        case "off"?, "false"?: Self(false)
        default: value.refuse(expected: "on or off")
        }
    }

    package func truth(of subscription: Subscription, in context: EvaluationContext) -> Truth {
        Truth(subscription.autoRenews.map { $0 == isOn })
    }

    package var required: ReasonValue { .text(isOn ? "on" : "off") }

    package func found(_ subscription: Subscription) -> ReasonValue? {
        subscription.autoRenews.map { .text($0 ? "on" : "off") }
    }

    package func source(_ subscription: Subscription) -> DecisionReason.Source {
        .renewalInfo
    }

    package static func contradiction(among tests: [Self]) -> String? {
        Set(tests).count > 1 ? Contradiction.values : nil
    }
}

extension SubscriptionTest {
    package static func autoRenew(_ isOn: Bool) -> SubscriptionTest { SubscriptionTest(AutoRenewTest(isOn)) }
}
