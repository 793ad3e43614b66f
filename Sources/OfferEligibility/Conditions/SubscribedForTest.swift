import OfferCore

/// `subscribedFor`: the length of the current run, or of the last run.
package struct SubscribedForTest: SubscriptionTestKind, DurationTest {
    package static let name = "subscribedFor"
    package static let code = ReasonCode.subscribedFor
    package static let subject = "The length of the subscription"

    package let bounds: Bounds<Duration>

    package init(_ bounds: Bounds<Duration>) {
        self.bounds = bounds
    }

    package func truth(of subscription: Subscription, in context: EvaluationContext) -> Truth {
        guard subscription.settled else { return .unknown }
        let length = subscription.length(at: context.now) * context.speed
        return subscription.isRunWhole ? Truth(bounds.contains(length)) : bounds.contains(atLeast: length)
    }

    package func found(_ subscription: Subscription) -> ReasonValue? {
        .time(subscription.subscribedSince)
    }

    package func source(_ subscription: Subscription) -> DecisionReason.Source {
        subscription.settled ? .history : .notification
    }
}

extension SubscriptionTest {
    package static func subscribedFor(_ bounds: Bounds<Duration>) -> SubscriptionTest {
        SubscriptionTest(SubscribedForTest(bounds))
    }
}

extension Subscription {
    /// Returns the length of the current run, or of the last run until its end.
    fileprivate func length(at now: Timestamp) -> Duration {
        max(.zero, min(now, endedAt ?? now) - subscribedSince)
    }
}
