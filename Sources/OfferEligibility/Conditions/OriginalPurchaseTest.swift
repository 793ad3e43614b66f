import OfferCore

/// `originalPurchase`: the date of the first download.
package struct OriginalPurchaseTest: CustomerTestKind {
    package static let name = "originalPurchase"
    package static let code = ReasonCode.originalPurchase
    package static let subject = "The date of the first download"

    package let range: DateRange

    package init(_ range: DateRange) {
        self.range = range
    }

    package static func read(_ value: some RuleValue) -> Self? {
        value.dates(from: "from", until: "before").map(Self.init)
    }

    package func truth(in context: EvaluationContext) -> Truth {
        Truth(context.facts.originalPurchase.map(range.contains))
    }

    package var required: ReasonValue { ReasonValue(range) }

    package func found(in context: EvaluationContext) -> ReasonValue? {
        context.facts.originalPurchase.map { .time($0) }
    }

    package func source(in context: EvaluationContext) -> DecisionReason.Source {
        .appTransaction
    }

    package static func contradiction(among tests: [Self]) -> String? {
        tests.map { (from: $0.range.from, until: $0.range.until) }.areApart() ? Contradiction.ranges : nil
    }
}

extension CustomerTest {
    package static func originalPurchase(_ range: DateRange) -> CustomerTest {
        CustomerTest(OriginalPurchaseTest(range))
    }
}
