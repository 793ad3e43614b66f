import OfferCore
import OfferEligibility
import Yams

/// A value in a YAML file, with its position for problem texts.
///
/// Reading is strict. It reports unknown names and values of the wrong kind, and returns nil or an empty result
/// instead.
struct YAMLValue {
    private let node: Node
    /// The path from the root, such as `rules.win_back.all[0].subscription`; empty for the root.
    private let path: String
    private let file: YAMLFile
    /// True if problems may quote the text. Outside rules, the text may be a misplaced secret, and problems are logged.
    private let isQuotable: Bool

    init(_ node: Node, _ path: String, in file: YAMLFile, isQuotable: Bool = false) {
        self.node = node
        self.path = path
        self.file = file
        self.isQuotable = isQuotable
    }

    private func member(_ name: String, _ node: Node) -> YAMLValue {
        YAMLValue(node, path.isEmpty ? name : "\(path).\(name)", in: file, isQuotable: isQuotable)
    }

    /// The same value, but problems may quote its text and the text of everything in it.
    var quotable: YAMLValue { YAMLValue(node, path, in: file, isQuotable: true) }

    // MARK: Problems

    func report(_ error: String, hint: String) {
        file.report(error, at: node, path, hint: hint)
    }

    /// Reports a problem and returns nil instead of a value.
    func refuse<Result>(_ error: String, hint: String) -> Result? {
        report(error, hint: hint)
        return nil
    }

    /// A description of the content, for problems.
    var found: String {
        if let text { return isQuotable ? "\"" + String(text.prefix(60)).printable + "\"" : "this" }
        return isMapping ? "a mapping" : "a list"
    }

    // MARK: Mappings and lists

    var isMapping: Bool { node.mapping != nil }

    var isList: Bool { node.sequence != nil }

    /// Returns the members of a mapping whose names are not fixed.
    /// - Parameter expected: the expected content, for the problem text if this is not a mapping.
    /// - Returns: the members. Each key is a value too, so that problems with names can be reported.
    func entries(expected: String) -> [(key: YAMLValue, value: YAMLValue)] {
        guard let mapping = node.mapping else { return refuse(expected: expected) ?? [] }
        guard file.hasFewProblems, file.count(mapping.count, at: node, path) else { return [] }
        return mapping.map { key, value in
            (YAMLValue(key, path, in: file, isQuotable: isQuotable), member(key.scalar?.string.printable ?? "", value))
        }
    }

    /// Returns the members of a mapping by name.
    /// - Parameter renamed: the current names of renamed members, by their former names.
    func members(
        _ what: String, known: [String], required: [String] = [], renamed: [String: String] = [:]
    ) -> [String: YAMLValue] {
        var members: [String: YAMLValue] = [:]
        let known = known
        for (key, value) in entries(
            expected: "name: value lines; \(what) has the members \(known.joined(separator: ", "))")
        {
            let name = key.text ?? "this"
            if known.contains(name) {
                members[name] = value
            } else if let newName = renamed[name] {
                key.report("\(name) is now called \(newName)", hint: "rename it")
            } else {
                key.report(
                    "\(what) has no " + (isQuotable ? "member \"\(name.printable)\"" : "such member"),
                    hint: NearMiss.suggestion(for: name, among: known)
                        ?? "known names: \(known.joined(separator: ", "))")
            }
        }
        if isMapping {
            for name in required where members[name] == nil { report("\(what) has no \(name)", hint: "add it") }
        }
        return members
    }

    /// Returns the items of a list.
    /// - Parameter ifEmpty: the problem with an empty list, and a hint; nil if the list may be empty.
    func list(_ what: String, ifEmpty: (error: String, hint: String)? = nil) -> [YAMLValue] {
        guard let sequence = node.sequence else {
            return refuse("\(what) must be a list", hint: "write one item per line, each starting with -") ?? []
        }
        if sequence.isEmpty, let ifEmpty { report(ifEmpty.error, hint: ifEmpty.hint) }
        guard file.hasFewProblems, file.count(sequence.count, at: node, path) else { return [] }
        return sequence.enumerated().map { YAMLValue($1, "\(path)[\($0)]", in: file, isQuotable: isQuotable) }
    }

    // MARK: Scalars

    /// Returns a scalar as written, without YAML's type conversion.
    func string() -> String? {
        guard let text, !isPlain || !["", "~", "null"].contains(text) else {
            return refuse("text is required here", hint: "put it in quotes")
        }
        return text
    }

    /// Returns the scalar as converted by `convert`, which returns nil for an invalid text.
    func string<Value>(_ error: String, hint: String, _ convert: (String) -> Value?) -> Value? {
        string().flatMap { convert($0) ?? refuse(error, hint: hint) }
    }

    /// Returns an identifier of the App Store.
    func identifier<Value>(_ read: (_ utf8: [UInt8]) throws(FieldError) -> Value) -> Value? {
        guard let text = string() else { return nil }
        do { return try read(Array(text.utf8)) } catch {
            return refuse(error.description, hint: "copy it from App Store Connect")
        }
    }

    func bundleIDs() -> Set<BundleID> {
        Set(
            list("apps").compactMap { item in
                item.identifier { text throws(FieldError) in try BundleID(utf8: text, field: "a bundle ID") }
            })
    }

    /// Returns the enum value that the scalar names.
    func choice<Choice: RawRepresentable<String> & CaseIterable>(_ type: Choice.Type) -> Choice? {
        text.flatMap { Choice(rawValue: $0) }
            ?? refuse(expected: Choice.allCases.map(\.rawValue).joined(separator: " or "))
    }

    func number(in range: ClosedRange<Int>) -> Int? {
        guard let number = text.flatMap({ Int($0) }), range.contains(number) else {
            return refuse(expected: "a whole number from \(range.lowerBound) to \(range.upperBound)")
        }
        return number
    }
}

extension YAMLValue: RuleValue {
    var text: String? { node.scalar?.string }

    var isPlain: Bool { node.scalar?.style == .plain }

    var memberCount: Int? { node.mapping?.count }

    func refuse<Result>(expected: String) -> Result? {
        refuse("\(found) is not valid here", hint: "write \(expected)")
    }

    func members(_ what: String, known: [String]) -> [String: YAMLValue] {
        members(what, known: known, required: [])
    }

    var items: [YAMLValue] {
        isList ? list("this", ifEmpty: ("the list is empty, so this can never hold", "add an item")) : [self]
    }
}
