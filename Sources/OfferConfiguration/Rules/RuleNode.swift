import OfferCore
import OfferEligibility
import Yams

/// A place in a rule: a YAML node and the path to it, for errors.
struct RuleNode {
    let node: YAMLNode
    /// Such as `rules.win_back.all[0].subscription`.
    let path: String

    init(_ node: YAMLNode, _ path: String) {
        self.node = node
        self.path = path
    }

    func member(_ name: String, _ node: YAMLNode) -> RuleNode { RuleNode(node, path + "." + name) }

    /// A description of the node's content, for errors.
    var found: String {
        if let scalar = node.scalar { return "\"" + String(scalar.string.prefix(60)).printable + "\"" }
        return node.mapping != nil ? "a mapping" : "a list"
    }
}

extension YAMLReader {
    /// Reports that something else was expected.
    mutating func refuse<Value>(_ place: RuleNode, expected: String) -> Value? {
        refuse("\(place.path): \(place.found) is not valid here", at: place.node, hint: "write \(expected)")
    }

    mutating func contradict(_ place: RuleNode, _ error: String, hint: String) {
        add("\(place.path): \(error)", at: place.node, hint: hint)
    }

    /// Returns the members of a mapping by name.
    mutating func members(of place: RuleNode, _ what: String, known: [String]) -> [String: RuleNode] {
        guard let mapping = place.node.mapping else {
            let _: Bool? = refuse(
                place, expected: "name: value lines; \(what) has the members \(known.joined(separator: ", "))")
            return [:]
        }
        var members: [String: RuleNode] = [:]
        for (key, value) in mapping {
            guard let name = key.scalar?.string, known.contains(name) else {
                let name = key.scalar?.string ?? "this"
                add(
                    "\(place.path): \(what) has no member \"\(name.printable)\"", at: key,
                    hint: NearMiss.suggestion(for: name, among: known)
                        ?? "known names: \(known.joined(separator: ", "))")
                continue
            }
            members[name] = place.member(name, value)
        }
        return members
    }

    /// Returns the items of a list; a scalar stands for a list with one item.
    mutating func items(of place: RuleNode) -> [RuleNode] {
        guard let sequence = place.node.sequence else { return [place] }
        if sequence.isEmpty { contradict(place, "the list is empty, so this can never hold", hint: "add an item") }
        return sequence.enumerated().map { RuleNode($1, place.path + "[\($0)]") }
    }

    /// Reads a scalar or a list of texts, and converts each with `read`.
    mutating func set<Value: Hashable>(
        of place: RuleNode, expected: String, _ read: (String) -> Value?
    ) -> Set<Value>? {
        var values: Set<Value> = []
        var isWhole = true
        for item in items(of: place) {
            guard let value = item.node.scalar.flatMap({ read($0.string) }) else {
                let _: Bool? = refuse(item, expected: expected)
                isWhole = false
                continue
            }
            values.insert(value)
        }
        return isWhole && !values.isEmpty ? values : nil
    }

    /// Reads one or more values of an enum.
    mutating func choices<Value: RawRepresentable<String> & CaseIterable & Hashable>(
        of place: RuleNode, _ type: Value.Type
    ) -> Set<Value>? {
        set(of: place, expected: Value.allCases.map(\.rawValue).joined(separator: ", ")) { Value(rawValue: $0) }
    }

    mutating func flag(of place: RuleNode) -> Bool? {
        switch place.node.scalar?.string {
        case "true"?: true
        case "false"?: false
        default: refuse(place, expected: "true or false")
        }
    }

    mutating func duration(of place: RuleNode) -> Duration? {
        place.node.scalar.flatMap { Duration(configured: $0.string) }
            ?? refuse(place, expected: "a duration such as 90m, 12h or 30d")
    }

    mutating func count(of place: RuleNode) -> Int? {
        guard let count = place.node.scalar.flatMap({ Int($0.string) }), (0...1_000_000_000).contains(count) else {
            return refuse(place, expected: "a whole number")
        }
        return count
    }

    mutating func date(of place: RuleNode) -> Timestamp? {
        place.node.scalar.flatMap { Timestamp(dateOrTime: $0.string) }
            ?? refuse(place, expected: "a date such as 2026-11-20, or a time such as 2026-11-20T08:00:00Z")
    }

    /// Reads `{atLeast, atMost}`, or one value for exactly that.
    mutating func bounds<Value>(
        of place: RuleNode, _ read: (inout YAMLReader, RuleNode) -> Value?
    ) -> Bounds<Value>? {
        if place.node.scalar != nil { return read(&self, place).map { Bounds(atLeast: $0, atMost: $0) } }
        let members = members(of: place, "a range", known: ["atLeast", "atMost"])
        guard !members.isEmpty else {
            if place.node.mapping?.isEmpty == true { return refuse(place, expected: "atLeast, atMost or both") }
            return nil
        }
        let (least, most) = (members["atLeast"].map { read(&self, $0) }, members["atMost"].map { read(&self, $0) })
        // A member that cannot be read is reported, and must not widen the range.
        guard least.map({ $0 != nil }) ?? true, most.map({ $0 != nil }) ?? true else { return nil }
        let bounds = Bounds(atLeast: least ?? nil, atMost: most ?? nil)
        if bounds.isEmpty {
            contradict(place, "atLeast is greater than atMost, so this can never hold", hint: "swap them")
        }
        return bounds
    }
}
