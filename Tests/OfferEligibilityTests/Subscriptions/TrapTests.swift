import Foundation
import TestSupport
import Testing

/// The App Store's data has 44 known traps. The tests whose titles name them prove that the service avoids them.
@Suite("Traps in the App Store's data")
struct TrapTests {
    private static let count = 44

    @Test("each trap is named in the title of a test")
    func named() throws {
        let tests = MarkdownBlock.repository.appending(path: "Tests")
        let files = try FileManager.default.subpathsOfDirectory(atPath: tests.path)
        let named = try files.filter { $0.hasSuffix("Tests.swift") }.reduce(into: Set<Int>()) { named, path in
            named.formUnion(Self.traps(in: try String(contentsOf: tests.appending(path: path), encoding: .utf8)))
        }
        #expect(Set(1...Self.count).subtracting(named).sorted() == [], "no test names these")
        #expect(named.subtracting(1...Self.count).sorted() == [], "there are no such traps")
    }

    @Test("only the beginnings of titles count")
    func titles() {
        let code = """
            // @Test("trap 1: no, a comment")
            @Test("trap 2: yes") func a()
            @Test(
                "traps 3, 4 and 15: yes", arguments: [1]) func b()
            @Test("no trap 5: no") let text = "trap 6: no"
            @Test("traps 7and 8: no")
            """
        #expect(Self.traps(in: code) == [2, 3, 4, 15])
    }

    /// The traps that titles of tests in a source text name.
    private static func traps(in code: String) -> Set<Int> {
        let code = code.replacing(/(?m)^ *\/\/.*$/, with: "")
        let lists = code.matches(of: #/@Test\(\s*"traps? (\d+(?:(?:, | and )\d+)*): /#).map { $0.output.1 }
        return Set(lists.flatMap { list in list.matches(of: /\d+/).compactMap { Int($0.output) } })
    }
}
