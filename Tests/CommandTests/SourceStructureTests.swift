import Foundation
import TestSupport
import Testing

/// Checks the dependencies between the folders of a module in the text of the sources. The compiler refuses cycles of
/// modules, but not of folders.
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

    /// For each folder, the folders whose types it names.
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

    /// A cycle that starts and ends with `folder`; nil if there is none.
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

    @Test("the folders of a module depend on each other in one direction", arguments: try modules())
    func noCircles(module: String) throws {
        let dependencies = Self.dependencies(in: try Self.files(of: module))
        for folder in dependencies.keys.sorted() {
            let circle = Self.circle(from: folder, in: dependencies)
            #expect(circle == nil, "\(module): \(circle?.joined(separator: " → ") ?? "")")
        }
    }

    @Test("a cycle is found")
    func circleIsFound() {
        let dependencies: [String: Set<String>] = ["A": ["B"], "B": ["C"], "C": ["A"], "D": ["A"]]
        #expect(Self.circle(from: "A", in: dependencies) == ["A", "B", "C", "A"])
        #expect(Self.circle(from: "D", in: dependencies) == nil)
    }
}
