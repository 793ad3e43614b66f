import OfferCore

/// `refundPending`: whether a refund request is open.
package struct RefundPendingTest: CustomerTestKind, FlagTest {
    package static let name = "refundPending"
    package static let code = ReasonCode.refundPending
    package static let subject = "Whether a refund is requested"

    package let expected: Bool

    package init(_ expected: Bool) {
        self.expected = expected
    }

    package func truth(in context: EvaluationContext) -> Truth {
        Truth(context.facts.state.hasRefundRequest.map { $0 == expected })
    }

    package func found(in context: EvaluationContext) -> ReasonValue? {
        context.facts.state.hasRefundRequest.map { .bool($0) }
    }

    package func source(in context: EvaluationContext) -> DecisionReason.Source {
        .notification
    }

    package static func contradiction(among tests: [Self]) -> String? {
        Set(tests).count > 1 ? Contradiction.opposites : nil
    }
}

extension CustomerTest {
    package static func refundPending(_ expected: Bool) -> CustomerTest { CustomerTest(RefundPendingTest(expected)) }
}
