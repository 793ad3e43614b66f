import OfferCore

/// `link`: the campaign whose link the customer opened, as the request shows it. A request without a link has none.
///
/// A link of a campaign can be passed on, so the condition says how a customer came, and not who the customer is. A personal
/// link counts only for its customer.
package struct LinkTest: CustomerTestKind {
    package static let name = "link"
    package static let code = ReasonCode.link
    package static let subject = "The campaign of the link"

    package let campaigns: Set<String>

    package init(_ campaigns: Set<String>) {
        self.campaigns = campaigns
    }

    package static func read(_ value: some RuleValue) -> Self? {
        value.set(expected: "the name of a campaign, such as spring") { text in Campaign.isName(text) ? text : nil }
            .map(Self.init)
    }

    package func truth(in context: EvaluationContext) -> Truth {
        Truth(context.facts.link.map(campaigns.contains) ?? false)
    }

    package var required: ReasonValue { .texts(Array(campaigns)) }

    package func found(in context: EvaluationContext) -> ReasonValue? { context.facts.link.map { .text($0) } }

    package func source(in context: EvaluationContext) -> DecisionReason.Source { .link }

    package static func contradiction(among tests: [Self]) -> String? {
        tests.map(\.campaigns).areDisjoint() ? Contradiction.values : nil
    }
}

extension CustomerTest {
    package static func link(_ campaigns: Set<String>) -> Self { Self(LinkTest(campaigns)) }
}
