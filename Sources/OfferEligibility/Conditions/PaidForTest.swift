import OfferCore

/// `paidFor`: the days of paid service in the group, which determine Apple's commission.
package struct PaidForTest: SubscriptionTestKind, DurationTest {
    package static let name = "paidFor"
    package static let code = ReasonCode.paidFor
    package static let subject = "The paid time in the group"

    package let bounds: Bounds<Duration>

    package init(_ bounds: Bounds<Duration>) {
        self.bounds = bounds
    }

    package func truth(of subscription: Subscription, in context: EvaluationContext) -> Truth {
        guard subscription.settled else { return .unknown }
        let length = subscription.paidFor * context.speed
        return subscription.isPaidTimeWhole ? Truth(bounds.contains(length)) : bounds.contains(atLeast: length)
    }

    package func found(_ subscription: Subscription) -> ReasonValue? { .duration(subscription.paidFor) }

    package func source(_ subscription: Subscription) -> DecisionReason.Source {
        subscription.settled ? .history : .notification
    }
}

extension SubscriptionTest {
    package static func paidFor(_ bounds: Bounds<Duration>) -> SubscriptionTest {
        SubscriptionTest(PaidForTest(bounds))
    }
}
