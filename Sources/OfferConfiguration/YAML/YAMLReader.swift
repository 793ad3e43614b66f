import OfferCore
import OfferEligibility
import Yams

typealias YAMLNode = Node

/// A strict YAML reader. It reports unknown names, duplicate names and values of the wrong kind with their line
/// numbers. It continues after a problem, so that all problems are reported together.
struct YAMLReader {
    let name: String
    private(set) var problems: [Diagnostic] = []

    init(name: String) {
        self.name = name
    }

    /// A file with more problems than this is probably not a configuration file.
    private static let maximumProblems = 100
    private static let maximumItems = 1_000_000
    private var itemCount = 0

    mutating func add(_ error: String, at node: Node, hint: String) {
        guard problems.count < Self.maximumProblems else { return }
        problems.append(Diagnostic("\(name), line \(node.mark?.line ?? 0): \(error)", hint: hint))
    }

    /// Adds a problem and returns nil in place of the value.
    mutating func refuse<Value>(_ error: String, at node: Node, hint: String) -> Value? {
        add(error, at: node, hint: hint)
        return nil
    }

    /// Parses the single document in `text`.
    mutating func compose(_ text: [UInt8]) -> Node? {
        guard let text = String(validating: text, as: UTF8.self) else {
            problems.append(Diagnostic("\(name) is not UTF-8", hint: "save it as UTF-8"))
            return nil
        }
        do {
            guard let node = try Yams.compose(yaml: text) else {
                problems.append(
                    Diagnostic("\(name) is empty", hint: "add apps and their offers, or omit the file"))
                return nil
            }
            return node
        } catch let error as YamlError {
            let (line, reason) = Self.place(of: error)
            problems.append(
                Diagnostic(
                    "\(name)\(line.map { ", line \($0)" } ?? ""): this is not YAML: \(reason)",
                    hint: "check the indentation, and put strings with special characters in quotes"))
        } catch {
            problems.append(Diagnostic("\(name) cannot be read (\(error))", hint: "save it as YAML"))
        }
        return nil
    }

    private static func place(of error: YamlError) -> (line: Int?, reason: String) {
        switch error {
        case .scanner(_, let problem, let mark, _), .parser(_, let problem, let mark, _),
            .composer(_, let problem, let mark, _):
            (mark.line, problem)
        case .duplicatedKeysInMapping(_, let context): (context.mark.line, "a name appears twice in this mapping")
        case .reader(let problem, _, _, _): (nil, problem)
        default: (nil, "it cannot be read")
        }
    }

    /// Returns the members of a mapping by name.
    mutating func members(
        of node: Node, _ what: String, known: [String], required: [String] = [], renamed: [String: String] = [:]
    ) -> [String: Node] {
        guard problems.count < Self.maximumProblems else { return [:] }
        guard let mapping = node.mapping else {
            add(
                "\(what) must consist of name: value lines", at: node,
                hint: "known names: \(known.joined(separator: ", "))")
            return [:]
        }
        var members: [String: Node] = [:]
        for (key, value) in mapping {
            guard let name = key.scalar?.string, known.contains(name) else {
                if let name = key.scalar?.string, let newName = renamed[name] {
                    add("\(name) is now called \(newName)", at: key, hint: "rename it")
                    continue
                }
                add("\(what) has no such member", at: key, hint: "known names: \(known.joined(separator: ", "))")
                continue
            }
            if members.updateValue(value, forKey: name) != nil {
                add("\(name) appears twice", at: key, hint: "remove one")
            }
        }
        for name in required where members[name] == nil {
            add("\(what) has no \(name)", at: node, hint: "add it")
        }
        return members
    }

    mutating func items(of node: Node, _ what: String) -> [Node] {
        guard problems.count < Self.maximumProblems else { return [] }
        guard let items = node.sequence else {
            add("\(what) must be a list", at: node, hint: "write one item per line, each starting with -")
            return []
        }
        // A few lines of aliases can expand to an unbounded number of items.
        itemCount += items.count
        guard itemCount <= Self.maximumItems else {
            add("there are more than \(Self.maximumItems) items up to this line", at: node, hint: "remove some")
            return []
        }
        return Array(items)
    }

    /// Returns a scalar as written, without YAML's type conversion.
    mutating func text(of node: Node) -> String? {
        guard let scalar = node.scalar, scalar.style != .plain || !["", "~", "null"].contains(scalar.string) else {
            return refuse("text is required here", at: node, hint: "put it in quotes")
        }
        return scalar.string
    }

    mutating func value<Value>(
        of node: Node, _ read: (_ utf8: [UInt8]) throws(FieldError) -> Value
    ) -> Value? {
        guard let text = text(of: node) else { return nil }
        do { return try read(Array(text.utf8)) } catch {
            return refuse(error.description, at: node, hint: "copy it from App Store Connect")
        }
    }

    mutating func bundleIDs(of node: Node) -> Set<BundleID> {
        Set(
            items(of: node, "apps").compactMap { node in
                value(of: node) { text throws(FieldError) in try BundleID(utf8: text, field: "a bundle ID") }
            })
    }

    mutating func bool(of node: Node, _ what: String) -> Bool? {
        switch node.scalar.map({ ($0.style, $0.string) }) {
        case (.plain, "true")?: true
        case (.plain, "false")?: false
        default: refuse("\(what) is neither true nor false", at: node, hint: "set it to true, or leave it out")
        }
    }

    /// Returns a text of up to 20 digits, as Apple writes numbers that are names.
    mutating func digits(of node: Node, _ what: String) -> String? {
        guard let text = node.scalar?.string, (1...20).contains(text.utf8.count),
            text.utf8.allSatisfy({ (0x30...0x39).contains($0) })
        else { return refuse("\(what) must consist of digits", at: node, hint: "copy it from App Store Connect") }
        return text
    }

    mutating func number(of node: Node, _ what: String) -> Int64? {
        guard let text = node.scalar?.string, let number = Int64(text), number > 0 else {
            return refuse("\(what) must be a positive whole number", at: node, hint: "write it in digits")
        }
        return number
    }

    mutating func duration(of node: Node, _ what: String) -> Duration? {
        text(of: node).flatMap { text in
            Duration(configured: text)
                ?? refuse("\(what) is not a duration", at: node, hint: "write it like 90m, 12h or 30d")
        }
    }
}
