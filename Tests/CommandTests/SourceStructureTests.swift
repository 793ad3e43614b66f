import Foundation
import TestSupport
import Testing

/// Checks the dependencies between each module's folders by reading the source text. The compiler refuses cycles
/// between modules but not between folders.
@Suite("Source structure")
struct SourceStructureTests {
    private struct File {
        let folder: String
        /// Every word of the code, and those after a dot.
        let words: Set<String>
        let members: Set<String>
        /// The types that other files can see, and the members of extensions.
        let types: Set<String>
        let extensionMembers: Set<String>
        let declarations: Set<String>

        init(folder: String, text: String) {
            // Comments and the text of string literals do not count, but interpolations do.
            let code =
                "\n"
                + text.replacing(/\/\/[^\n]*/, with: "")
                .replacing(/"(?:[^"\\\n]|\\.)*"/) { literal in
                    literal.output.matches(of: /\\\(([^"]*?)\)/).map { String($0.output.1) }.joined(separator: " ")
                }
            self.folder = folder
            words = Set(code.matches(of: /\b[A-Z]\w+/).map { String($0.output) })
            members = Set(code.matches(of: /\.(\w+)/).map { String($0.output.1) })
            types = Set(
                code.matches(
                    of: /\n(?:package |public )?(?:final )?(?:indirect )?(?:struct|class|enum|actor|protocol) (\w+)/
                ).map { String($0.output.1) })
            declarations = Set(code.matches(of: /(?:var|let|func|case) +(\w+)/).map { String($0.output.1) })
            extensionMembers = code.matches(of: /\n(?:package )?extension [^\n]*\{(?s:.*?)\n\}/).reduce(into: []) {
                members, found in
                let declared = found.output.matches(
                    of: /\n    (?:package |public )?(?:static |mutating |nonisolated )*(?:var|let|func) (\w+)/)
                members.formUnion(declared.map { String($0.output.1) })
            }
        }
    }

    private static let sources = MarkdownBlock.repository.appending(path: "Sources")

    /// The files in the folders of each module.
    private static let modules = Result {
        var modules: [String: [File]] = [:]
        let paths = FileManager.default.enumerator(atPath: sources.path)?.compactMap { $0 as? String } ?? []
        for path in paths where path.hasSuffix(".swift") {
            let parts = path.split(separator: "/").map(String.init)
            guard parts.count > 2 else { continue }
            let text = try String(contentsOf: sources.appending(path: path), encoding: .utf8)
            modules[parts[0], default: []].append(File(folder: parts[1], text: text))
        }
        return modules
    }

    private static func moduleNames() throws -> [String] { try modules.get().keys.sorted() }

    /// Maps each folder to the other folders whose types, or whose members of extensions, it uses.
    private static func dependencies(in files: [File], unique: Set<String>) -> [String: Set<String>] {
        var owners: [String: Set<String>] = [:]
        var memberOwners: [String: Set<String>] = [:]
        for file in files {
            for type in file.types { owners[type, default: []].insert(file.folder) }
            for member in file.extensionMembers.intersection(unique) {
                memberOwners[member, default: []].insert(file.folder)
            }
        }
        return files.reduce(into: [:]) { dependencies, file in
            let used =
                file.words.compactMap { owners[$0] } + file.members.compactMap { memberOwners[$0] }
            for folders in used where folders.count == 1 {
                dependencies[file.folder, default: []].formUnion(folders.subtracting([file.folder]))
            }
        }
    }

    /// The members that one file of all modules declares. Any other name may mean another member.
    private static let uniqueMembers = Result {
        let counts = try modules.get().values.joined().reduce(into: [String: Int]()) { counts, file in
            for name in file.declarations { counts[name, default: 0] += 1 }
        }
        return Set(counts.filter { $0.value == 1 }.keys)
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

    @Test("the folders of a module do not depend on each other in a cycle", arguments: try moduleNames())
    func noCircles(module: String) throws {
        let files = try #require(try Self.modules.get()[module])
        let dependencies = Self.dependencies(in: files, unique: try Self.uniqueMembers.get())
        for folder in dependencies.keys.sorted() {
            let circle = Self.circle(from: folder, in: dependencies)
            #expect(circle == nil, "\(module): \(circle?.joined(separator: " → ") ?? "")")
        }
    }

    @Test("every module that has folders is checked, and so are interpolations and members of extensions")
    func everything() throws {
        #expect(try Self.moduleNames().count >= 12)
        let files = [
            File(folder: "A", text: "struct One { let text = \"\\(Two.self)\" }\n"),
            File(folder: "B", text: "struct Two {}\nextension Int {\n    var onlyHere: Int { 1 }\n}\n"),
            File(folder: "C", text: "// One\nlet number = 1.onlyHere\nlet text = \"One\"\n"),
        ]
        let dependencies = Self.dependencies(in: files, unique: ["onlyHere"])
        #expect(dependencies.filter { !$0.value.isEmpty } == ["A": ["B"], "C": ["B"]])
    }

    @Test("the check finds a cycle")
    func circleIsFound() {
        let dependencies: [String: Set<String>] = ["A": ["B"], "B": ["C"], "C": ["A"], "D": ["A"]]
        #expect(Self.circle(from: "A", in: dependencies) == ["A", "B", "C", "A"])
        #expect(Self.circle(from: "D", in: dependencies) == nil)
    }

    @Test("Package.swift declares every import of each target, including those of tests")
    func imports() throws {
        let manifest = try String(
            contentsOf: MarkdownBlock.repository.appending(path: "Package.swift"), encoding: .utf8)
        let targets = manifest.matches(of: /\.(target|executableTarget|testTarget)\(\s*name: "([\w-]+)"/)
        let own = Set(targets.map { String($0.output.2) })
        #expect(own.count > 40)
        for target in targets {
            let name = String(target.output.2)
            let end = manifest[target.range.upperBound...].firstRange(of: /\n        \.\w+\(|\n    \]/)?.lowerBound
            let declaration = manifest[target.range.upperBound..<(end ?? manifest.endIndex)]
            let declared = declaration.replacing(/\.product\([^)]*\)/, with: "").matches(of: /"([\w-]+)"/)
                .map { String($0.output.1) }
            let path =
                declaration.firstMatch(of: /path: "([^"]+)"/).map { String($0.output.1) }
                ?? "\(target.output.1 == "testTarget" ? "Tests" : "Sources")/\(name)"
            let folder = MarkdownBlock.repository.appending(path: path)
            // The steps of a tutorial are no sources.
            for path in try FileManager.default.subpathsOfDirectory(atPath: folder.path)
            where path.hasSuffix(".swift") && !path.contains(".docc/") {
                let code = try String(contentsOf: folder.appending(path: path), encoding: .utf8)
                let imported = Set(
                    code.matches(of: /(?m)^(?:@testable |package |public )?import (\w+)$/).map { String($0.output.1) })
                let undeclared = imported.intersection(own).subtracting(declared)
                #expect(undeclared == [], "\(name) imports what Package.swift does not declare, in \(path)")
            }
        }
    }
}
