import OfferCore

/// `fact`: a fact that the team supplied.
package struct TeamFactTest: CustomerTestKind {
    package static let name = "fact"
    package static let code = ReasonCode.fact
    package static let subject = "The fact"

    package enum Requirement: Hashable, Sendable {
        /// True if the fact must exist; false if it must not.
        case exists(Bool)
        /// One of these scalars.
        case isOneOf(Set<Scalar>)
        case number(Bounds<Double>)
        case date(DateRange)
        /// A date at most this long ago, or at most this long from now. nil excludes that side.
        case near(last: Duration?, next: Duration?)
    }

    /// A scalar in a rule.
    package enum Scalar: Hashable, Sendable {
        case text(String)
        case number(Double)
        case bool(Bool)
    }

    /// The name of the fact.
    package let fact: String
    package let requirement: Requirement

    package init(name: String, _ requirement: Requirement) {
        fact = name
        self.requirement = requirement
    }

    /// Also returns unknown for a value of the wrong type, such as text instead of a number.
    package func truth(in context: EvaluationContext) -> Truth {
        let value = context.facts.team[fact]
        if case .exists(let exists) = requirement { return Truth((value != nil) == exists) }
        guard let value else { return .unknown }
        switch requirement {
        case .exists: return .unknown
        case .isOneOf(let scalars): return Scalar(value).map { Truth(scalars.contains($0)) } ?? .unknown
        case .number(let bounds):
            guard case .number(let number)? = Scalar(value) else { return .unknown }
            return Truth(bounds.contains(number))
        case .date(let range):
            guard case .text(let text)? = Scalar(value), let time = Timestamp(dateOrTime: text) else { return .unknown }
            return Truth(range.contains(time))
        case .near(let last, let next):
            guard case .text(let text)? = Scalar(value), let time = Timestamp(dateOrTime: text) else { return .unknown }
            let age = context.duration(since: time)
            return Truth(age >= .zero ? last.map { age <= $0 } ?? false : next.map { .zero - age <= $0 } ?? false)
        }
    }

    package var required: ReasonValue {
        switch requirement {
        case .exists(let exists): .members([.init("exists", .bool(exists))])
        case .isOneOf(let scalars): .list(scalars.map { ReasonValue($0) }.sorted { $0.sentencePart < $1.sentencePart })
        case .number(let bounds): ReasonValue(bounds) { .number($0) }
        case .date(let range): ReasonValue(range)
        case .near(let last, let next):
            .members(
                [("last", last), ("next", next)].compactMap { name, time in time.map { .init(name, .duration($0)) } })
        }
    }

    package func found(in context: EvaluationContext) -> ReasonValue? {
        context.facts.team[fact].flatMap(Scalar.init).map { ReasonValue($0) }
    }

    package func source(in context: EvaluationContext) -> DecisionReason.Source { .teamFact }

    package static func contradiction(among tests: [Self]) -> String? {
        for (_, tests) in Dictionary(grouping: tests, by: \.fact) {
            if let reason = contradiction(among: tests.map(\.requirement)) { return reason }
        }
        return nil
    }

    /// - Parameter requirements: requirements of one fact.
    private static func contradiction(among requirements: [Requirement]) -> String? {
        if requirements.contains(.exists(false)), requirements.contains(where: { $0 != .exists(false) }) {
            return "a fact that does not exist has no value"
        }
        let sets = requirements.compactMap { if case .isOneOf(let values) = $0 { values } else { nil } }
        let numbers = requirements.compactMap { if case .number(let bounds) = $0 { bounds } else { nil } }
        let dates = requirements.compactMap { if case .date(let range) = $0 { range } else { nil } }
        let hasNearDate = requirements.contains { if case .near = $0 { true } else { false } }
        if sets.areDisjoint() { return "a fact has one value" }
        if numbers.areApart() || dates.map({ (from: $0.from, until: $0.until) }).areApart() {
            return Contradiction.ranges
        }
        if !numbers.isEmpty, !dates.isEmpty || hasNearDate { return "a fact is a number or a date" }
        guard let first = sets.first, !numbers.isEmpty else { return nil }
        let fits = sets.dropFirst().reduce(first) { $0.intersection($1) }.contains { scalar in
            guard case .number(let number) = scalar else { return false }
            return numbers.allSatisfy { $0.contains(number) }
        }
        return fits ? nil : "no value of the fact is within its bounds"
    }
}

extension CustomerTest {
    package static func fact(_ test: TeamFactTest) -> CustomerTest { CustomerTest(test) }
}

// MARK: Reading

extension TeamFactTest {
    private static let requirements = [
        "is", "in", "atLeast", "atMost", "before", "after", "exists", "within", "last", "next",
    ]

    package static func read(_ value: some RuleValue) -> Self? {
        let members = value.members(name, known: ["name"] + requirements)
        guard members.count == value.memberCount else { return nil }
        guard let fact = members["name"]?.text, (1...TeamFact.maximumNameSize).contains(fact.utf8.count) else {
            value.report("fact needs a name", hint: "such as {name: careTicket, exists: true}")
            return nil
        }
        let given = requirements.filter { members[$0] != nil }
        guard let first = given.first,
            given.count == 1 || [["atLeast", "atMost"], ["before", "after"], ["last", "next"]].contains(given)
        else {
            value.report(
                given.isEmpty ? "the fact has no test" : "the fact has more than one test",
                hint:
                    "write is, in, exists or within, or the bounds atLeast and atMost, after and before, or last and next"
            )
            return nil
        }
        return requirement(first, members, value).map { Self(name: fact, $0) }
    }

    private static func requirement<Value: RuleValue>(
        _ first: String, _ members: [String: Value], _ value: Value
    ) -> Requirement? {
        switch first {
        case "exists": return members["exists"]?.flag().map { .exists($0) }
        case "is", "in":
            guard let member = members[first] else { return nil }
            let scalars = member.items.map { item in
                Scalar(item) ?? item.refuse(expected: "a string, a number, true or false")
            }
            return scalars.contains { $0 == nil } || scalars.isEmpty ? nil : .isOneOf(Set(scalars.compactMap { $0 }))
        case "atLeast", "atMost":
            return value.bounds(members["atLeast"], members["atMost"]) { bound in
                bound.text.flatMap { Double($0) }.flatMap { $0.isFinite ? $0 : nil }
                    ?? bound.refuse(expected: "a number")
            }.map { .number($0) }
        case "within": return members["within"]?.duration().map { .near(last: $0, next: $0) }
        case "last", "next":
            let (last, next) = (members["last"].read { $0.duration() }, members["next"].read { $0.duration() })
            guard !last.isUnreadable, !next.isUnreadable else { return nil }
            return .near(last: last.value, next: next.value)
        default:
            return value.dates(in: members, from: "after", until: "before").map { .date($0) }
        }
    }
}

extension TeamFactTest.Scalar {
    /// - Returns: nil for a number out of range.
    package init?(_ value: TeamFactValue) {
        switch value {
        case .text(let bytes): self = .text(String(decoding: bytes, as: UTF8.self))
        case .bool(let bool): self = .bool(bool)
        case .number(let digits):
            guard let number = Double(String(decoding: digits, as: UTF8.self)), number.isFinite else { return nil }
            self = .number(number)
        }
    }

    /// A plain scalar may be a Boolean, a number or text. A quoted scalar is text.
    /// - Returns: nil for a list or a mapping.
    fileprivate init?(_ value: some RuleValue) {
        guard let text = value.text else { return nil }
        switch text {
        case "true" where value.isPlain: self = .bool(true)
        case "false" where value.isPlain: self = .bool(false)
        default:
            // Infinity and NaN count as text, because JSON has no such numbers.
            let number = value.isPlain ? Double(text).flatMap { $0.isFinite ? $0 : nil } : nil
            self = number.map { .number($0) } ?? .text(text)
        }
    }
}

extension ReasonValue {
    fileprivate init(_ scalar: TeamFactTest.Scalar) {
        switch scalar {
        case .text(let text): self = .text(text)
        case .number(let number): self = .number(number)
        case .bool(let bool): self = .bool(bool)
        }
    }
}
