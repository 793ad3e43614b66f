import OfferCore

/// `date`: the time of the decision.
package struct DateTest: CustomerTestKind {
    package static let name = "date"
    package static let code = ReasonCode.date
    package static let subject = "The date"

    package let range: DateRange

    package init(_ range: DateRange) {
        self.range = range
    }

    package static func read(_ value: some RuleValue) -> Self? {
        value.dates(from: "from", until: "until").map(Self.init)
    }

    package func truth(in context: EvaluationContext) -> Truth {
        Truth(range.contains(context.now))
    }

    package var required: ReasonValue { ReasonValue(range) }

    package func found(in context: EvaluationContext) -> ReasonValue? {
        .time(context.now)
    }

    package func source(in context: EvaluationContext) -> DecisionReason.Source {
        .notification
    }

    package static func contradiction(among tests: [Self]) -> String? {
        tests.map { (from: $0.range.from, until: $0.range.until) }.areApart() ? Contradiction.ranges : nil
    }
}

extension CustomerTest {
    package static func date(_ range: DateRange) -> CustomerTest { CustomerTest(DateTest(range)) }
}
