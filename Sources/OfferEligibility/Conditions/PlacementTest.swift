import OfferCore

/// `placement`: the place in the app where the offer is to appear, as the request names it. Without one, it is unknown.
package struct PlacementTest: CustomerTestKind {
    package static let name = "placement"
    package static let code = ReasonCode.placement
    package static let subject = "The placement"

    package let placements: Set<String>

    package init(_ placements: Set<String>) {
        self.placements = placements
    }

    /// The permitted length in bytes.
    package static let sizes = 1...64

    package static func read(_ value: some RuleValue) -> Self? {
        value.set(expected: "a placement of up to \(sizes.upperBound) bytes, such as cancel") { text in
            sizes.contains(text.utf8.count) ? text : nil
        }.map(Self.init)
    }

    package func truth(in context: EvaluationContext) -> Truth {
        Truth(context.facts.placement.map(placements.contains))
    }

    package var required: ReasonValue { .texts(Array(placements)) }

    package func found(in context: EvaluationContext) -> ReasonValue? {
        context.facts.placement.map { .text($0) }
    }

    package func source(in context: EvaluationContext) -> DecisionReason.Source { .placement }

    package static func contradiction(among tests: [Self]) -> String? {
        tests.map(\.placements).areDisjoint() ? Contradiction.values : nil
    }
}

extension CustomerTest {
    package static func placement(_ placements: Set<String>) -> Self { Self(PlacementTest(placements)) }
}
