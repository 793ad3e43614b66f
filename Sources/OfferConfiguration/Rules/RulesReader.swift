import OfferCore
import OfferEligibility
import Yams

/// Reads the rule language into conditions. Every problem has its line, its path, what was found and what would be valid.
struct RulesReader {
    /// The rules of the file by name, not read yet.
    private let nodes: [String: RuleNode]
    private let builtIn: [String: Condition]
    private var conditions: [String: Condition?] = [:]
    /// The rules that are being read, the outermost first.
    private var open: [String] = []

    /// - Parameters:
    ///   - rules: the member `rules` of the file; nil if it has none.
    ///   - builtIn: rules that those of the file replace.
    init(_ rules: YAMLNode?, builtIn: [String: Condition], _ reader: inout YAMLReader) {
        self.builtIn = builtIn
        guard let rules else {
            nodes = [:]
            return
        }
        guard let mapping = rules.mapping else {
            nodes = [:]
            reader.add("rules must be a mapping from names to conditions", at: rules, hint: "write name: {…}")
            return
        }
        var nodes: [String: RuleNode] = [:]
        for (key, value) in mapping {
            guard let name = key.scalar?.string, Self.isName(name) else {
                reader.add("this is not a name of a rule", at: key, hint: "up to 64 letters, digits, - and _")
                continue
            }
            nodes[name] = RuleNode(value, "rules.\(name)")
        }
        self.nodes = nodes
        for name in nodes.keys.sorted() { _ = condition(named: name, from: nil, &reader) }
    }

    private static func isName(_ text: String) -> Bool {
        (1...64).contains(text.utf8.count)
            && text.utf8.allSatisfy { $0.isASCIIAlphanumeric || $0 == UInt8(ascii: "_") || $0 == UInt8(ascii: "-") }
    }

    /// The rules of the file that could be read.
    var named: [String: Condition] { conditions.compactMapValues { $0 } }

    /// Reads the member `rule` of an offer or a case: a name, or a condition in place.
    mutating func rule(at place: RuleNode, _ reader: inout YAMLReader) -> Rule? {
        if let name = place.node.scalar?.string {
            return condition(named: name, from: place, &reader).map { Rule(name: name, condition: .rule(name, $0)) }
        }
        return condition(at: place, &reader).map { condition in
            Contradictions.report(condition, at: place, &reader)
            return Rule(name: nil, condition: condition)
        }
    }

    // MARK: Names

    /// - Parameter place: where the name is used; nil for its definition.
    private mutating func condition(
        named name: String, from place: RuleNode?, _ reader: inout YAMLReader
    ) -> Condition? {
        if let known = conditions[name] { return known }
        guard let node = nodes[name] else {
            if let condition = builtIn[name] { return condition }
            guard let place else { return nil }
            let names = Set(nodes.keys).union(builtIn.keys).sorted()
            return reader.refuse(
                "\(place.path): there is no rule \(place.found)", at: place.node,
                hint: NearMiss.suggestion(for: name, among: names) ?? "known rules: \(names.joined(separator: ", "))")
        }
        guard !open.contains(name) else {
            let cycle = (open.drop { $0 != name } + [name]).joined(separator: " → ")
            reader.contradict(
                place ?? node, "the rule contains itself: \(cycle)", hint: "remove one of these references")
            return nil
        }
        open.append(name)
        let condition = condition(at: node, &reader)
        open.removeLast()
        if let condition { Contradictions.report(condition, at: node, &reader) }
        conditions[name] = .some(condition)
        return condition
    }

    // MARK: Conditions

    private static let names =
        ["all", "any", "not", "rule", "subscription"] + CustomerTest.kinds.map { $0.name }

    private mutating func condition(at place: RuleNode, _ reader: inout YAMLReader) -> Condition? {
        let members = reader.members(of: place, "a condition", known: Self.names)
        guard place.node.mapping?.count == 1, let (name, value) = members.first else {
            if place.node.mapping != nil, members.count == place.node.mapping?.count {
                reader.contradict(
                    place, members.isEmpty ? "the condition is empty" : "the condition has several members",
                    hint: "write one, such as all: with a list of conditions")
            }
            return nil
        }
        switch name {
        case "all": return conditions(at: value, &reader).map { .all($0) }
        case "any": return conditions(at: value, &reader).map { .any($0) }
        case "not": return condition(at: value, &reader).map { .not($0) }
        case "rule":
            guard let name = value.node.scalar?.string else {
                return reader.refuse(value, expected: "the name of a rule")
            }
            return condition(named: name, from: value, &reader).map { .rule(name, $0) }
        case "subscription":
            return SubscriptionConditionReader.read(value, &reader).map { .subscription($0) }
        default:
            guard let kind = CustomerTest.kinds.first(where: { $0.name == name }) else {
                return reader.refuse(value, expected: Self.names.joined(separator: ", "))
            }
            return CustomerTest.read(kind, value, &reader).map { .test($0) }
        }
    }

    private mutating func conditions(at place: RuleNode, _ reader: inout YAMLReader) -> [Condition]? {
        guard let sequence = place.node.sequence else {
            return reader.refuse(place, expected: "a list of conditions, each on a line that starts with -")
        }
        if sequence.isEmpty { reader.contradict(place, "the list is empty", hint: "add a condition") }
        let items = reader.items(of: place)
        let conditions = items.map { condition(at: $0, &reader) }
        return conditions.contains { $0 == nil } || conditions.isEmpty ? nil : conditions.compactMap { $0 }
    }
}
