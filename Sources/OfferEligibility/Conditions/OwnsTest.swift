package import OfferCore

/// `owns`: whether the customer owns one of the listed non-consumables.
package struct OwnsTest: CustomerTestKind {
    package static let name = "owns"
    package static let code = ReasonCode.owns
    package static let subject = "The ownership of the product"

    package let productIDs: Set<ProductID>

    package init(_ productIDs: Set<ProductID>) {
        self.productIDs = productIDs
    }

    package static func read(_ value: some RuleValue) -> Self? {
        value.productIDs().map(Self.init)
    }

    package func truth(in context: EvaluationContext) -> Truth {
        .any(productIDs.lazy.map { Truth(context.facts.state.owns($0)) })
    }

    package var required: ReasonValue { .texts(productIDs.map(\.text.description)) }

    package func found(in context: EvaluationContext) -> ReasonValue? {
        .texts(productIDs.filter { context.facts.state.owns($0) == true }.map(\.text.description))
    }

    package func source(in context: EvaluationContext) -> DecisionReason.Source {
        context.facts.state.historySource
    }

    package func needsCompleteHistory(wanting wanted: Bool) -> Bool { !wanted }
}

extension CustomerTest {
    package static func owns(_ productIDs: Set<ProductID>) -> CustomerTest { CustomerTest(OwnsTest(productIDs)) }
}
