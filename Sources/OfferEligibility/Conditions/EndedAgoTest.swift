import OfferCore

/// `endedAgo`: the time since the subscription ended.
package struct EndedAgoTest: SubscriptionTestKind, DurationTest {
    package static let name = "endedAgo"
    package static let code = ReasonCode.endedAgo
    package static let subject = "The time since the end"

    package let bounds: Bounds<Duration>

    package init(_ bounds: Bounds<Duration>) {
        self.bounds = bounds
    }

    package func truth(of subscription: Subscription, in context: EvaluationContext) -> Truth {
        guard subscription.settled else { return .unknown }
        return Truth(subscription.endedAt.map { bounds.contains(context.duration(since: $0)) } ?? false)
    }

    package func found(_ subscription: Subscription) -> ReasonValue? {
        subscription.endedAt.map { .time($0) }
    }

    package func source(_ subscription: Subscription) -> DecisionReason.Source {
        .notification
    }
}

extension SubscriptionTest {
    package static func endedAgo(_ bounds: Bounds<Duration>) -> SubscriptionTest {
        SubscriptionTest(EndedAgoTest(bounds))
    }
}
