import OfferCore

/// `endsIn`: the time until access ends. A subscription that renews does not end. A commitment that was cancelled keeps
/// access until its end.
package struct EndsInTest: SubscriptionTestKind, DurationTest {
    package static let name = "endsIn"
    package static let code = ReasonCode.endsIn
    package static let subject = "The time until the end"

    package let bounds: Bounds<Duration>

    package init(_ bounds: Bounds<Duration>) {
        self.bounds = bounds
    }

    package func truth(of subscription: Subscription, in context: EvaluationContext) -> Truth {
        guard subscription.settled else { return .unknown }
        guard let end = subscription.end else { return .no }
        guard !subscription.isCommitted || subscription.commitment?.expiresDate != nil else { return .unknown }
        if subscription.status == .active {
            switch subscription.autoRenews {
            case nil: return .unknown
            case true?: return .no
            case false?: break
            }
        }
        return Truth(bounds.contains(.zero - context.duration(since: end)))
    }

    package func found(_ subscription: Subscription) -> ReasonValue? {
        subscription.end.map { .time($0) }
    }

    package func source(_ subscription: Subscription) -> DecisionReason.Source {
        subscription.settled ? .renewalInfo : .notification
    }
}

extension SubscriptionTest {
    package static func endsIn(_ bounds: Bounds<Duration>) -> SubscriptionTest { SubscriptionTest(EndsInTest(bounds)) }
}

extension Subscription {
    /// The time at which access ends; nil if it has already ended or the time is unknown.
    fileprivate var end: Timestamp? {
        switch status {
        case .active: [commitment?.expiresDate, expiresAt].compactMap(\.self).max()
        case .billingGracePeriod: gracePeriodExpiresAt
        case .billingRetry, .expired, .revoked: nil
        }
    }
}
