import Foundation
import TestSupport
import Testing

/// Checks the dependencies between each module's folders by reading the source text. The compiler refuses cycles
/// between modules but not between folders.
@Suite("Source structure")
struct SourceStructureTests {
    private struct File {
        let folder: String
        let code: String
        let types: [String]
    }

    private static let sources = MarkdownBlock.repository.appending(path: "Sources")

    private static func modules() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: sources.path).filter { $0.hasPrefix("Offer") }.sorted()
    }

    /// The files in a module's folders, without comments and string literals.
    private static func files(of module: String) throws -> [File] {
        let root = sources.appending(path: module)
        let paths = FileManager.default.enumerator(atPath: root.path)?.compactMap { $0 as? String } ?? []
        return try paths.filter { $0.hasSuffix(".swift") && $0.contains("/") }.map { path in
            let text = try String(contentsOf: root.appending(path: path), encoding: .utf8)
            let code = text.replacing(/\/\/[^\n]*/, with: "").replacing(/"(?:[^"\\\n]|\\.)*"/, with: "\"\"")
            // Only types that other files can see.
            let types = code.matches(
                of: /\n(?:package )?(?:final )?(?:indirect )?(?:struct|class|enum|actor|protocol) (\w+)/
            ).map { String($0.output.1) }
            return File(folder: String(path.prefix { $0 != "/" }), code: "\n" + code, types: types)
        }
    }

    /// Maps each folder to the other folders whose types it uses.
    private static func dependencies(in files: [File]) -> [String: Set<String>] {
        let owners = files.reduce(into: [String: Set<String>]()) { owners, file in
            for type in file.types { owners[type, default: []].insert(file.folder) }
        }
        return files.reduce(into: [:]) { dependencies, file in
            let words = Set(file.code.matches(of: /\b[A-Z]\w+/).map { String($0.output) })
            for case let folders? in words.map({ owners[$0] }) where folders.count == 1 {
                dependencies[file.folder, default: []].formUnion(folders.subtracting([file.folder]))
            }
        }
    }

    /// A dependency cycle that starts and ends at `folder`, or nil.
    private static func circle(from folder: String, in dependencies: [String: Set<String>]) -> [String]? {
        func path(from current: String, _ visited: [String]) -> [String]? {
            for next in (dependencies[current] ?? []).sorted() {
                if next == folder { return visited + [next] }
                if !visited.contains(next), let found = path(from: next, visited + [next]) { return found }
            }
            return nil
        }
        return path(from: folder, [folder])
    }

    @Test("the folders of a module do not depend on each other in a cycle", arguments: try modules())
    func noCircles(module: String) throws {
        let dependencies = Self.dependencies(in: try Self.files(of: module))
        for folder in dependencies.keys.sorted() {
            let circle = Self.circle(from: folder, in: dependencies)
            #expect(circle == nil, "\(module): \(circle?.joined(separator: " → ") ?? "")")
        }
    }

    @Test("the check finds a cycle")
    func circleIsFound() {
        let dependencies: [String: Set<String>] = ["A": ["B"], "B": ["C"], "C": ["A"], "D": ["A"]]
        #expect(Self.circle(from: "A", in: dependencies) == ["A", "B", "C", "A"])
        #expect(Self.circle(from: "D", in: dependencies) == nil)
    }
}
