import OfferCore
import OfferEligibility

/// Parses rules into conditions. Every problem states its line, its path, the value found, and the valid values.
final class RulesReader {
    /// The unparsed rules of the file, by name.
    private let values: [String: YAMLValue]
    private let builtIn: [String: Condition]
    private var conditions: [String: Condition?] = [:]
    /// The names of the rules being read, the outermost first.
    private var open: [String] = []

    /// - Parameters:
    ///   - rules: the member `rules` of the file; nil if the file has none.
    ///   - builtIn: the built-in rules. A rule of the file replaces the built-in rule of the same name.
    init(_ rules: YAMLValue?, builtIn: [String: Condition]) {
        self.builtIn = builtIn
        var values: [String: YAMLValue] = [:]
        for (key, value) in rules?.quotable.entries(expected: "rules as lines of the form name: {condition}") ?? [] {
            guard let name = key.text, Self.isName(name) else {
                key.report("this is not a valid rule name", hint: "up to 64 letters, digits, - and _")
                continue
            }
            if name == OfferGrant.ruleName {
                key.report("decisions based on a grant have this rule", hint: "give the rule another name")
            }
            values[name] = value
        }
        self.values = values
        for name in values.keys.sorted() { _ = condition(named: name, from: nil) }
    }

    private static func isName(_ text: String) -> Bool {
        (1...64).contains(text.utf8.count)
            && text.utf8.allSatisfy { $0.isASCIIAlphanumeric || $0 == UInt8(ascii: "_") || $0 == UInt8(ascii: "-") }
    }

    /// The valid rules of the file, by name.
    var named: [String: Condition] { conditions.compactMapValues { $0 } }

    /// Reads the member `rule` of an offer or a case: a name, or an inline condition.
    func rule(_ value: YAMLValue) -> Rule? {
        let rule = anyRule(value)
        if let misuse = rule?.condition.misuse {
            value.report(
                misuse, hint: "write it so that more reports can only refuse the offer, such as count: {atMost: 2}")
        }
        return rule
    }

    private func anyRule(_ value: YAMLValue) -> Rule? {
        if let name = value.text {
            return condition(named: name, from: value).map { Rule(name: name, condition: .rule(name, $0)) }
        }
        return condition(value).map { condition in
            Contradictions.report(condition, at: value)
            return Rule(name: nil, condition: condition)
        }
    }

    // MARK: Names

    /// - Parameter use: the place where the name is used; nil for the rule's definition.
    private func condition(named name: String, from use: YAMLValue?) -> Condition? {
        if let known = conditions[name] { return known }
        guard let value = values[name] else {
            if let condition = builtIn[name] { return condition }
            let names = Set(values.keys).union(builtIn.keys).sorted()
            return use?.refuse(
                "there is no rule \(use?.found ?? "")",
                hint: NearMiss.suggestion(for: name, among: names) ?? "known rules: \(names.joined(separator: ", "))")
        }
        guard !open.contains(name) else {
            let cycle = (open.drop { $0 != name } + [name]).joined(separator: " → ")
            return (use ?? value).refuse(
                "the rule contains itself: \(cycle)", hint: "remove one of these references")
        }
        open.append(name)
        let condition = condition(value)
        open.removeLast()
        if let condition { Contradictions.report(condition, at: value) }
        conditions[name] = .some(condition)
        return condition
    }

    // MARK: Conditions

    private static let names =
        ["all", "any", "not", "rule", "subscription"] + CustomerTest.kinds.map { $0.name }

    private func condition(_ value: YAMLValue) -> Condition? {
        let members = value.members("a condition", known: Self.names)
        guard value.memberCount == 1, let (name, member) = members.first else {
            if members.count == value.memberCount {
                value.report(
                    members.isEmpty ? "the condition is empty" : "the condition has several members",
                    hint: "write one, such as all: with a list of conditions")
            }
            return nil
        }
        switch name {
        case "all": return conditions(member).map { .all($0) }
        case "any": return conditions(member).map { .any($0) }
        case "not": return condition(member).map { .not($0) }
        case "rule":
            guard let name = member.text else { return member.refuse(expected: "the name of a rule") }
            return condition(named: name, from: member).map { .rule(name, $0) }
        case "subscription": return SubscriptionConditionReader.read(member).map { .subscription($0) }
        default:
            guard let kind = CustomerTest.kinds.first(where: { $0.name == name }) else {
                return member.refuse(expected: Self.names.joined(separator: ", "))
            }
            return CustomerTest.read(kind, member).map { .test($0) }
        }
    }

    private func conditions(_ value: YAMLValue) -> [Condition]? {
        guard value.isList else {
            return value.refuse(expected: "a list of conditions, each on a line that starts with -")
        }
        let conditions = value.list("this", ifEmpty: ("the list is empty", "add a condition")).map { condition($0) }
        return conditions.contains { $0 == nil } || conditions.isEmpty ? nil : conditions.compactMap { $0 }
    }
}
