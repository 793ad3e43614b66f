import OfferCore

/// `originalAppVersion`: the first version of the app that the customer bought or downloaded.
package struct OriginalAppVersionTest: CustomerTestKind {
    package static let name = "originalAppVersion"
    package static let code = ReasonCode.originalAppVersion
    package static let subject = "The first version of the app"

    package let range: VersionRange

    package init(_ range: VersionRange) {
        self.range = range
    }

    package static func read(_ value: some RuleValue) -> Self? {
        guard let members = value.knownMembers(name, known: ["from", "before"]) else { return nil }
        let from = members["from"].read { version($0) }
        let before = members["before"].read { version($0) }
        guard !from.isUnreadable, !before.isUnreadable else { return nil }
        let range = VersionRange(from: from.value, before: before.value)
        if let from = range.from, let before = range.before, from >= before {
            value.report("from is not lower than before, so this can never hold", hint: "swap them")
        }
        return Self(range)
    }

    private static func version(_ value: some RuleValue) -> AppVersion? {
        value.text.flatMap { AppVersion($0) }
            ?? value.refuse(expected: #"a version number in quotes, such as "3.0""#)
    }

    package func truth(in context: EvaluationContext) -> Truth {
        Truth(context.facts.originalAppVersion.map(range.contains))
    }

    package var required: ReasonValue { ReasonValue(range) }

    package func found(in context: EvaluationContext) -> ReasonValue? {
        context.facts.originalAppVersion.map { .text($0.description) }
    }

    package func source(in context: EvaluationContext) -> DecisionReason.Source {
        .appTransaction
    }

    package static func contradiction(among tests: [Self]) -> String? {
        tests.map { (from: $0.range.from, until: $0.range.before) }.areApart() ? Contradiction.ranges : nil
    }
}

extension CustomerTest {
    package static func originalAppVersion(_ range: VersionRange) -> CustomerTest {
        CustomerTest(OriginalAppVersionTest(range))
    }
}
