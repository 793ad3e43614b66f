import OfferCore

/// `everSubscribed`: whether the customer ever bought a subscription in the app.
package struct EverSubscribedTest: CustomerTestKind, FlagTest {
    package static let name = "everSubscribed"
    package static let code = ReasonCode.everSubscribed
    package static let subject = "Whether the customer ever subscribed"

    package let expected: Bool

    package init(_ expected: Bool) {
        self.expected = expected
    }

    package func truth(in context: EvaluationContext) -> Truth {
        Truth(context.facts.state.everSubscribed.map { $0 == expected })
    }

    package func found(in context: EvaluationContext) -> ReasonValue? {
        context.facts.state.everSubscribed.map { .bool($0) }
    }

    package func source(in context: EvaluationContext) -> DecisionReason.Source {
        context.facts.state.historySource
    }

    package func needsCompleteHistory(wanting wanted: Bool) -> Bool { expected != wanted }
}

extension CustomerTest {
    package static func everSubscribed(_ expected: Bool) -> CustomerTest { CustomerTest(EverSubscribedTest(expected)) }
}
