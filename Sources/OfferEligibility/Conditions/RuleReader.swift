package import OfferCore

/// A value in a rule, as written in the file.
package protocol RuleValue {
    /// The text of a scalar; nil for other values.
    var text: String? { get }
    /// True for a scalar written without quotes.
    var isPlain: Bool { get }
    /// The number of members of a mapping; nil for other values.
    var memberCount: Int? { get }
}

/// The reader of a file with rules. It collects problems with their places, and continues after each.
package protocol RuleReader {
    associatedtype Value: RuleValue

    /// Reports that another value was expected.
    mutating func refuse<Result>(_ value: Value, expected: String) -> Result?
    mutating func contradict(_ value: Value, _ error: String, hint: String)
    /// Returns the members of a mapping by name, and reports unknown ones.
    mutating func members(of value: Value, _ what: String, known: [String]) -> [String: Value]
    /// Returns the items of a list; a scalar stands for a list with one item.
    mutating func items(of value: Value) -> [Value]
}

/// A member of a mapping that may be missing.
package enum ReadMember<Result> {
    case missing
    /// The member was unreadable, which is reported. The mapping must not be used without it.
    case unreadable
    case read(Result)

    package var value: Result? { if case .read(let value) = self { value } else { nil } }

    package var isUnreadable: Bool { if case .unreadable = self { true } else { false } }
}

extension RuleReader {
    /// Reads a member that may be missing.
    package mutating func read<Result>(
        _ member: Value?, _ read: (inout Self, Value) -> Result?
    ) -> ReadMember<Result> {
        guard let member else { return .missing }
        return read(&self, member).map { .read($0) } ?? .unreadable
    }

    /// Returns the members of a mapping in which at least one is required.
    /// - Returns: nil if a member is unknown or if there is none, which is reported.
    mutating func knownMembers(of value: Value, _ what: String, known: [String]) -> [String: Value]? {
        let members = members(of: value, what, known: known)
        return members.isEmpty || members.count != value.memberCount ? nil : members
    }

    /// Reads a scalar or a list of texts, and converts each with `read`.
    package mutating func set<Result: Hashable>(
        of value: Value, expected: String, _ read: (String) -> Result?
    ) -> Set<Result>? {
        var results: Set<Result> = []
        var isWhole = true
        for item in items(of: value) {
            guard let result = item.text.flatMap(read) else {
                let _: Bool? = refuse(item, expected: expected)
                isWhole = false
                continue
            }
            results.insert(result)
        }
        return isWhole && !results.isEmpty ? results : nil
    }

    /// Reads one or more values of an enum.
    package mutating func choices<Result: RawRepresentable<String> & CaseIterable & Hashable>(
        of value: Value, _ type: Result.Type
    ) -> Set<Result>? {
        set(of: value, expected: Result.allCases.map(\.rawValue).joined(separator: ", ")) { Result(rawValue: $0) }
    }

    package mutating func productIDs(of value: Value) -> Set<ProductID>? {
        set(of: value, expected: "a product ID") { try? ProductID(utf8: Array($0.utf8)) }
    }

    package mutating func flag(of value: Value) -> Bool? {
        switch value.text {
        case "true"?: true
        case "false"?: false
        default: refuse(value, expected: "true or false")
        }
    }

    package mutating func duration(of value: Value) -> Duration? {
        value.text.flatMap { Duration(configured: $0) }
            ?? refuse(value, expected: "a duration such as 90m, 12h or 30d")
    }

    package mutating func count(of value: Value) -> Int? {
        guard let count = value.text.flatMap({ Int($0) }), (0...1_000_000_000).contains(count) else {
            return refuse(value, expected: "a whole number")
        }
        return count
    }

    package mutating func date(of value: Value) -> Timestamp? {
        value.text.flatMap { Timestamp(dateOrTime: $0) }
            ?? refuse(value, expected: "a date such as 2026-11-20, or a time such as 2026-11-20T08:00:00Z")
    }

    /// Reads `{atLeast, atMost}`, or a single value that stands for exactly that value.
    package mutating func bounds<Result>(
        of value: Value, _ read: (inout Self, Value) -> Result?
    ) -> Bounds<Result>? {
        if value.text != nil { return read(&self, value).map { Bounds(atLeast: $0, atMost: $0) } }
        let members = members(of: value, "a range", known: ["atLeast", "atMost"])
        guard !members.isEmpty else {
            if value.memberCount == 0 { return refuse(value, expected: "atLeast, atMost or both") }
            return nil
        }
        return bounds(members["atLeast"], members["atMost"], of: value, read)
    }

    /// - Returns: nil if a bound cannot be read, because dropping it would widen the range.
    mutating func bounds<Result>(
        _ atLeast: Value?, _ atMost: Value?, of value: Value, _ read: (inout Self, Value) -> Result?
    ) -> Bounds<Result>? {
        let (least, most) = (self.read(atLeast, read), self.read(atMost, read))
        guard !least.isUnreadable, !most.isUnreadable else { return nil }
        let bounds = Bounds(atLeast: least.value, atMost: most.value)
        if bounds.isEmpty {
            contradict(value, "atLeast is greater than atMost, so this can never hold", hint: "swap them")
        }
        return bounds
    }

    package mutating func durations(of value: Value) -> Bounds<Duration>? { bounds(of: value) { $0.duration(of: $1) } }

    package mutating func counts(of value: Value) -> Bounds<Int>? { bounds(of: value) { $0.count(of: $1) } }

    /// Reads a range of dates with the given names for its ends.
    mutating func dates(of value: Value, from: String, until: String) -> DateRange? {
        guard let members = knownMembers(of: value, "a range of dates", known: [from, until]) else { return nil }
        return dates(members[from], members[until], of: value, from: from, until: until)
    }

    mutating func dates(
        _ start: Value?, _ end: Value?, of value: Value, from: String, until: String
    ) -> DateRange? {
        let (start, end) = (read(start) { $0.date(of: $1) }, read(end) { $0.date(of: $1) })
        guard !start.isUnreadable, !end.isUnreadable else { return nil }
        let range = DateRange(from: start.value, until: end.value)
        if range.isEmpty {
            contradict(value, "\(from) is not before \(until), so this can never hold", hint: "swap them")
        }
        return range
    }
}
