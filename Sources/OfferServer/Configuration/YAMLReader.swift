import OfferCore
import Yams

typealias YAMLNode = Node

/// Reads YAML strictly: a name that nobody knows, one that is there twice or a value of the wrong kind is a problem with
/// its line, and reading goes on, so that all of them are told at once.
struct YAMLReader {
    let name: String
    private(set) var problems: [SetupProblem] = []

    init(name: String) {
        self.name = name
    }

    /// Where there are more, the file is none of ours.
    private static let maximumProblems = 100
    private static let maximumItems = 1_000_000
    private var itemCount = 0

    mutating func add(_ error: String, at node: Node, hint: String) {
        guard problems.count < Self.maximumProblems else { return }
        problems.append(SetupProblem("\(name), line \(node.mark?.line ?? 0): \(error)", hint: hint))
    }

    /// - Returns: nil always, so that it can stand for a value that cannot be read.
    mutating func refuse<Value>(_ error: String, at node: Node, hint: String) -> Value? {
        add(error, at: node, hint: hint)
        return nil
    }

    /// The one document in `text`.
    mutating func compose(_ text: [UInt8]) -> Node? {
        guard let text = String(validating: text, as: UTF8.self) else {
            problems.append(SetupProblem("\(name) is not UTF-8", hint: "save it as UTF-8"))
            return nil
        }
        do {
            guard let node = try Yams.compose(yaml: text) else {
                problems.append(
                    SetupProblem("\(name) is empty", hint: "name apps and their offers in it, or leave it out"))
                return nil
            }
            return node
        } catch let error as YamlError {
            let (line, reason) = Self.place(of: error)
            problems.append(
                SetupProblem(
                    "\(name)\(line.map { ", line \($0)" } ?? ""): this is not YAML: \(reason)",
                    hint: "mind the indentation, and put texts with special characters in quotes"))
        } catch {
            problems.append(SetupProblem("\(name) cannot be read (\(error))", hint: "save it as YAML"))
        }
        return nil
    }

    private static func place(of error: YamlError) -> (line: Int?, reason: String) {
        switch error {
        case .scanner(_, let problem, let mark, _), .parser(_, let problem, let mark, _),
            .composer(_, let problem, let mark, _):
            (mark.line, problem)
        case .duplicatedKeysInMapping(_, let context): (context.mark.line, "a name is there twice in what begins here")
        case .reader(let problem, _, _, _): (nil, problem)
        default: (nil, "it cannot be read")
        }
    }

    /// The members of a mapping by their names.
    mutating func members(
        of node: Node, _ what: String, known: [String], required: [String] = []
    ) -> [String: Node] {
        guard problems.count < Self.maximumProblems else { return [:] }
        guard let mapping = node.mapping else {
            add("\(what) has to be name: value lines", at: node, hint: "known names: \(known.joined(separator: ", "))")
            return [:]
        }
        var members: [String: Node] = [:]
        for (key, value) in mapping {
            guard let name = key.scalar?.string, known.contains(name) else {
                add("\(what) has no such member", at: key, hint: "known names: \(known.joined(separator: ", "))")
                continue
            }
            if members.updateValue(value, forKey: name) != nil {
                add("\(name) is there twice", at: key, hint: "leave one out")
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
            add("\(what) has to be a list", at: node, hint: "one line each, beginning with -")
            return []
        }
        // A few lines of aliases can stand for items without end.
        itemCount += items.count
        guard itemCount <= Self.maximumItems else {
            add("there are more than \(Self.maximumItems) items up to here", at: node, hint: "leave some out")
            return []
        }
        return Array(items)
    }

    /// A text as it stands there, whatever YAML would take it for.
    mutating func text(of node: Node) -> String? {
        guard let scalar = node.scalar, scalar.style != .plain || !["", "~", "null"].contains(scalar.string) else {
            return refuse("a text is needed here", at: node, hint: "put it in quotes")
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

    mutating func number(of node: Node, _ what: String) -> Int64? {
        guard let text = node.scalar?.string, let number = Int64(text), number > 0 else {
            return refuse("\(what) has to be a number", at: node, hint: "write it in digits")
        }
        return number
    }
}
