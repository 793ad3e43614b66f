import OfferCore

/// `renewals`: the number of paid renewals without a gap.
package struct RenewalsTest: SubscriptionTestKind, CountTest {
    package static let name = "renewals"
    package static let code = ReasonCode.renewals
    package static let subject = "The number of renewals"

    package let bounds: Bounds<Int>

    package init(_ bounds: Bounds<Int>) {
        self.bounds = bounds
    }

    package func truth(of subscription: Subscription, in context: EvaluationContext) -> Truth {
        guard subscription.settled else { return .unknown }
        return subscription.isRunWhole
            ? Truth(bounds.contains(subscription.renewals)) : bounds.contains(atLeast: subscription.renewals)
    }

    package func found(_ subscription: Subscription) -> ReasonValue? {
        .number(Double(subscription.renewals))
    }

    package func source(_ subscription: Subscription) -> DecisionReason.Source {
        subscription.settled ? .history : .notification
    }
}

extension SubscriptionTest {
    package static func renewals(_ bounds: Bounds<Int>) -> SubscriptionTest { SubscriptionTest(RenewalsTest(bounds)) }
}
