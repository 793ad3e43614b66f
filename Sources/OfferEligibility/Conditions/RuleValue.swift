package import OfferCore

/// A value in a rule, as written in the file. It collects problems with their positions.
package protocol RuleValue {
    /// The text of a scalar; nil for other values.
    var text: String? { get }
    /// True for a scalar written without quotes.
    var isPlain: Bool { get }
    /// The number of members of a mapping; nil for other values.
    var memberCount: Int? { get }
    /// The items of a list. Any other value is its own only item.
    var items: [Self] { get }

    /// Returns the members of a mapping by name, and reports unknown members.
    func members(_ what: String, known: [String]) -> [String: Self]

    func report(_ error: String, hint: String)
    /// Reports that the value is not the expected one, and returns nil.
    func refuse<Result>(expected: String) -> Result?
}

/// The result of reading an optional member of a mapping.
package enum ReadMember<Result> {
    case missing
    /// The member is invalid and has been reported. The mapping must not be used without it.
    case unreadable
    case read(Result)

    package var value: Result? { if case .read(let value) = self { value } else { nil } }

    package var isMissing: Bool { if case .missing = self { true } else { false } }

    package var isUnreadable: Bool { if case .unreadable = self { true } else { false } }
}

extension Optional where Wrapped: RuleValue {
    /// Reads an optional member.
    package func read<Result>(_ read: (Wrapped) -> Result?) -> ReadMember<Result> {
        guard let self else { return .missing }
        return read(self).map { .read($0) } ?? .unreadable
    }
}

extension RuleValue {
    /// Returns the members of a mapping that needs at least one.
    /// - Returns: nil if a member is unknown or if there is none, which is reported.
    func knownMembers(_ what: String, known: [String]) -> [String: Self]? {
        let members = members(what, known: known)
        guard memberCount != 0 else { return refuse(expected: known.joined(separator: ", ")) }
        return members.isEmpty || members.count != memberCount ? nil : members
    }

    /// True for YAML's null, which is no text.
    var isNull: Bool { isPlain && text.map(["", "~", "null"].contains) == true }

    /// Reads a scalar or a list of scalars, and converts each with `read`.
    package func set<Result: Hashable>(expected: String, _ read: (String) -> Result?) -> Set<Result>? {
        var results: Set<Result> = []
        var isWhole = true
        for item in items {
            guard !item.isNull, let result = item.text.flatMap(read) else {
                let _: Bool? = item.refuse(expected: expected)
                isWhole = false
                continue
            }
            results.insert(result)
        }
        return isWhole && !results.isEmpty ? results : nil
    }

    /// Reads one or more values of an enum.
    package func choices<Result: RawRepresentable<String> & CaseIterable & Hashable>(
        _ type: Result.Type
    ) -> Set<Result>? {
        set(expected: Result.allCases.map(\.rawValue).joined(separator: ", ")) { Result(rawValue: $0) }
    }

    /// Reads one or more values of Apple's, as Apple spells them.
    func values<Value: OpenValue>(among known: [Value]) -> Set<Value>? where Value.RawValue == String {
        set(expected: known.map(\.rawValue).joined(separator: ", ")) { text in known.first { $0.rawValue == text } }
    }

    package func productIDs() -> Set<ProductID>? {
        set(expected: "a product ID") { try? ProductID(utf8: Array($0.utf8)) }
    }

    package func flag() -> Bool? {
        switch text {
        case "true"? where isPlain: true
        case "false"? where isPlain: false
        default: refuse(expected: "true or false, without quotes")
        }
    }

    package func duration() -> Duration? {
        text.flatMap { Duration(configured: $0) } ?? refuse(expected: "a duration such as 90m, 12h or 30d")
    }

    func count() -> Int? {
        guard let count = text.flatMap({ Int($0) }), (0...1_000_000_000).contains(count) else {
            return refuse(expected: "a whole number")
        }
        return count
    }

    func date() -> Timestamp? {
        text.flatMap { Timestamp(dateOrTime: $0) }
            ?? refuse(expected: "a date such as 2026-11-20, or a time such as 2026-11-20T08:00:00Z")
    }

    /// Reads `{atLeast, atMost}`, or a single value that is both bounds.
    func bounds<Result>(_ read: (Self) -> Result?) -> Bounds<Result>? {
        if text != nil { return read(self).map { Bounds(atLeast: $0, atMost: $0) } }
        let members = members("a range", known: ["atLeast", "atMost"])
        guard !members.isEmpty else {
            if memberCount == 0 { return refuse(expected: "atLeast, atMost or both") }
            return nil
        }
        return bounds(members["atLeast"], members["atMost"], read)
    }

    /// Reads bounds from two members of this mapping.
    /// - Returns: nil if a bound cannot be read, because dropping it would widen the range.
    func bounds<Result>(_ atLeast: Self?, _ atMost: Self?, _ read: (Self) -> Result?) -> Bounds<Result>? {
        let (least, most) = (atLeast.read(read), atMost.read(read))
        guard !least.isUnreadable, !most.isUnreadable else { return nil }
        let bounds = Bounds(atLeast: least.value, atMost: most.value)
        if bounds.isEmpty {
            report("atLeast is greater than atMost, so this can never hold", hint: "swap them")
        }
        return bounds
    }

    func durations() -> Bounds<Duration>? { bounds { $0.duration() } }

    func counts() -> Bounds<Int>? { bounds { $0.count() } }

    /// Reads a date range whose ends have the given names.
    func dates(from: String, until: String) -> DateRange? {
        guard let members = knownMembers("a range of dates", known: [from, until]) else { return nil }
        return dates(in: members, from: from, until: until)
    }

    /// Reads a date range from two of the mapping's members.
    func dates(in members: [String: Self], from: String, until: String) -> DateRange? {
        let (start, end) = (members[from].read { $0.date() }, members[until].read { $0.date() })
        guard !start.isUnreadable, !end.isUnreadable else { return nil }
        let range = DateRange(from: start.value, until: end.value)
        if range.isEmpty {
            report("\(from) is not before \(until), so this can never hold", hint: "swap them")
        }
        return range
    }
}
