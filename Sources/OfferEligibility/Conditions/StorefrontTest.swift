import OfferCore

/// `storefront`: the country or region of the customer's latest purchase. Family shares and seats do not count.
package struct StorefrontTest: CustomerTestKind {
    package static let name = "storefront"
    package static let code = ReasonCode.storefront
    package static let subject = "The storefront"

    /// Three-letter codes, such as `USA`.
    package let storefronts: Set<String>

    package init(_ storefronts: Set<String>) {
        self.storefronts = storefronts
    }

    package static func read(_ value: some RuleValue) -> Self? {
        value.set(expected: "a storefront's code of three capital letters, such as USA") { text in
            let isCode = text.utf8.count == 3 && text.utf8.allSatisfy((UInt8(ascii: "A")...UInt8(ascii: "Z")).contains)
            return isCode ? text : nil
        }.map(Self.init)
    }

    package func truth(in context: EvaluationContext) -> Truth {
        Truth(context.facts.state.storefront.map(storefronts.contains))
    }

    package var required: ReasonValue { .texts(Array(storefronts)) }

    package func found(in context: EvaluationContext) -> ReasonValue? {
        context.facts.state.storefront.map { .text($0) }
    }

    package func source(in context: EvaluationContext) -> DecisionReason.Source { .transaction }

    package static func contradiction(among tests: [Self]) -> String? {
        tests.map(\.storefronts).areDisjoint() ? "no customer is in two storefronts" : nil
    }
}

extension CustomerTest {
    package static func storefront(_ storefronts: Set<String>) -> Self {
        Self(StorefrontTest(storefronts))
    }
}
