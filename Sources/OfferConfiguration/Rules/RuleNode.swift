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

extension RuleNode: RuleValue {
    var text: String? { node.scalar?.string }

    var isPlain: Bool { node.scalar?.style == .plain }

    var memberCount: Int? { node.mapping?.count }
}

extension YAMLReader: RuleReader {
    /// Reports that something else was expected.
    package mutating func refuse<Result>(_ place: RuleNode, expected: String) -> Result? {
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
}
