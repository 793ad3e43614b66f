import OfferCore

/// `commitmentEndsIn`: the time until a commitment ends, whether or not it renews. It does not hold without a commitment.
package struct CommitmentEndsInTest: SubscriptionTestKind, DurationTest {
    package static let name = "commitmentEndsIn"
    package static let code = ReasonCode.commitmentEndsIn
    package static let subject = "The time until the commitment ends"

    package let bounds: Bounds<Duration>

    package init(_ bounds: Bounds<Duration>) {
        self.bounds = bounds
    }

    package func truth(of subscription: Subscription, in context: EvaluationContext) -> Truth {
        subscription.truth(of: subscription.commitment?.expiresDate) { end in
            Truth(bounds.contains(.zero - context.duration(since: end)))
        }
    }

    package func found(_ subscription: Subscription) -> ReasonValue? {
        subscription.commitment?.expiresDate.map { .time($0) }
    }

    package func source(_ subscription: Subscription) -> DecisionReason.Source { .transaction }
}

/// `commitmentPeriod`: the number of the billing period within a commitment, from 1. It does not hold without a commitment.
package struct CommitmentPeriodTest: SubscriptionTestKind, CountTest {
    package static let name = "commitmentPeriod"
    package static let code = ReasonCode.commitmentPeriod
    package static let subject = "The billing period of the commitment"

    package let bounds: Bounds<Int>

    package init(_ bounds: Bounds<Int>) {
        self.bounds = bounds
    }

    package func truth(of subscription: Subscription, in context: EvaluationContext) -> Truth {
        subscription.truth(of: subscription.commitment?.billingPeriodNumber) {
            Truth(bounds.contains(Int(clamping: $0)))
        }
    }

    package func found(_ subscription: Subscription) -> ReasonValue? {
        subscription.commitment?.billingPeriodNumber.map { .number(Double($0)) }
    }

    package func source(_ subscription: Subscription) -> DecisionReason.Source { .transaction }
}

extension Subscription {
    /// Tests a member of the commitment.
    /// - Returns: no if the customer paid up front or the subscription is over; otherwise unknown if the member is missing.
    fileprivate func truth<Value>(of value: Value?, _ test: (Value) -> Truth) -> Truth {
        if status == .expired || status == .revoked { return settled ? .no : .unknown }
        if let value { return test(value) }
        return !isCommitted && billingPlan == .billedUpFront ? .no : .unknown
    }
}

extension SubscriptionTest {
    package static func commitmentEndsIn(_ bounds: Bounds<Duration>) -> SubscriptionTest {
        SubscriptionTest(CommitmentEndsInTest(bounds))
    }

    package static func commitmentPeriod(_ bounds: Bounds<Int>) -> SubscriptionTest {
        SubscriptionTest(CommitmentPeriodTest(bounds))
    }
}
