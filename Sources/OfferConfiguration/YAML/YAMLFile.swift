import Yams

/// A YAML file that is being read. It collects all problems, so that they are reported together.
final class YAMLFile {
    private(set) var problems: [FileProblem] = []
    private var itemCount = 0

    /// The maximum number of problems. A file with more is probably not a configuration file.
    private static let maximumProblems = 100
    private static let maximumItems = 1_000_000

    /// Parses the single document in `text`.
    /// - Returns: nil if the text is not YAML, which is reported as a problem.
    func compose(_ text: [UInt8]) -> YAMLValue? {
        guard let text = String(validating: text, as: UTF8.self) else {
            problems.append(FileProblem(line: nil, "is not UTF-8", hint: "save it as UTF-8"))
            return nil
        }
        do {
            guard let node = try Yams.compose(yaml: text) else {
                problems.append(
                    FileProblem(line: nil, "is empty", hint: "add apps and their offers, or omit the file"))
                return nil
            }
            return YAMLValue(node, "", in: self)
        } catch let error as YamlError {
            let (line, reason) = Self.place(of: error)
            problems.append(
                FileProblem(
                    line: line, "\(line == nil ? "" : "this ")is not YAML: \(reason)",
                    hint: "check the indentation, and put strings with special characters in quotes"))
        } catch {
            problems.append(FileProblem(line: nil, "cannot be read (\(error))", hint: "save it as YAML"))
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

    // MARK: For values

    func report(_ error: String, at node: Node, _ path: String, hint: String) {
        guard hasFewProblems else { return }
        let path = path.isEmpty ? "" : "\(path): "
        problems.append(FileProblem(line: node.mark?.line, "\(path)\(error)", hint: hint))
    }

    /// False if there are so many problems that further reading is pointless.
    var hasFewProblems: Bool { problems.count < Self.maximumProblems }

    /// Counts items against their limit. A few lines of aliases can expand to an unbounded number of items.
    /// - Returns: false if the limit is exceeded, which is reported as a problem.
    func count(_ items: Int, at node: Node, _ path: String) -> Bool {
        itemCount += items
        guard itemCount > Self.maximumItems else { return true }
        report("there are more than \(Self.maximumItems) items up to this line", at: node, path, hint: "remove some")
        return false
    }
}
