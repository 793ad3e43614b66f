import OfferCore

/// A reason to refuse an offer. The values for ``DecisionReason`` are looked up only on request, because they cost more
/// than the decision. Most callers need only the codes.
enum RuleFinding: Sendable {
    /// A test of the customer, its result, and the wanted result.
    indirect case test(CustomerTest, Truth, wanted: Bool)
    /// A test of a subscription, its result, the wanted result, and the subscription.
    indirect case subscriptionTest(SubscriptionTest, Truth, wanted: Bool, SubscriptionUnderTest)
    /// A reason that comes from no test.
    indirect case other(DecisionReason)

    var code: ReasonCode {
        switch self {
        case .test(let test, let truth, _): truth == .unknown ? .unknown : test.code
        case .subscriptionTest(let test, let truth, _, _): truth == .unknown ? .unknown : test.code
        case .other(let reason): reason.code
        }
    }

    /// - Parameter context: the context of the evaluation.
    func reason(in context: EvaluationContext) -> DecisionReason {
        switch self {
        case .test(let test, let truth, let wanted): test.reason(truth, wanting: wanted, in: context)
        case .subscriptionTest(let test, let truth, let wanted, let candidate):
            test.reason(truth, wanting: wanted, of: candidate.subscription)
        case .other(let reason): reason
        }
    }
}

extension [RuleFinding] {
    /// Returns the reasons, without repeats.
    func reasons(in context: EvaluationContext) -> [DecisionReason] { map { $0.reason(in: context) }.withoutRepeats }
}
