import OfferCore
import Testing

@testable import OfferConfiguration

@Suite("Environment file")
struct EnvironmentFileTests {
    private static func read(_ text: String) -> [String: String] {
        let (values, problems) = EnvironmentFile.read(Array(text.utf8), name: "a.env")
        #expect(problems == [])
        return values
    }

    private static func problems(_ text: String) -> [String] {
        EnvironmentFile.read(Array(text.utf8), name: "a.env").problems.map { "\($0)" }
    }

    @Test(
        "values follow the rules for quotes, escapes and comments",
        arguments: [
            ("A=b", "b"), ("A=b\n", "b"), ("  A = b \t\n", "b"), ("export A=b", "b"), ("export\tA=b", "b"), ("A=", ""),
            ("A=\r\n", ""), ("A=b\r\n", "b"), ("\u{FEFF}A=b", "b"), ("# c\n\n \nA=b", "b"), ("A=b # c", "b"),
            ("A=b#c", "b#c"), ("A=#c", ""), ("A='b # c'", "b # c"), ("A='b' # c", "b"), ("A=\"b\" # c", "b"),
            ("A='b\\n\"c'", "b\\n\"c"), (#"A="b\n\t\"\\\$c\d""#, "b\n\t\"\\$c\\d"), ("A=\"b\nc\n\"", "b\nc\n"),
            ("A='b\nc'", "b\nc"), ("A=b=c==", "b=c=="), ("A=$HOME", "$HOME"), ("A=\"\"", ""), ("A=b c", "b c"),
            ("A=\"ü\"", "ü"), ("A='b'#c", "b"), ("A=\"b\r\nc\"", "b\nc"),
        ])
    func values(text: String, value: String) throws {
        #expect(Self.read(text) == ["A": value])
    }

    @Test("each line sets one variable, and a quoted value can span lines")
    func lines() throws {
        #expect(Self.read("A=1\nB='2\n3'\n# c\nexport C=4") == ["A": "1", "B": "2\n3", "C": "4"])
        #expect(Self.read("") == [:])
    }

    @Test(
        "a problem is reported with its line number but without the line's text",
        arguments: [
            ("marked", 1), ("A=1\nmarked\n", 2), ("A=1\n=marked", 2), ("1A=marked", 1), ("A B=marked", 1),
            ("A='marked", 1), ("A=1\n\nB=\"marked\nC=2", 3), ("A='1'marked", 1), ("A=1\nA=marked", 2),
            ("A='1\n2\n'\nB=-----BEGIN PRIVATE KEY-----\nmarked/marked+\n", 5), ("export =marked", 1), ("Ä=marked", 1),
        ])
    func faults(text: String, line: Int) {
        let problems = Self.problems(text)
        #expect(problems.count == 1)
        #expect(problems.first?.contains("a.env, line \(line): ") == true, "\(problems)")
        #expect(!problems.joined().contains("marked"))
    }

    @Test("every invalid line is reported, and the valid lines are still read")
    func severalFaults() {
        let (values, problems) = EnvironmentFile.read(Array("A\nB=1\nC='1'2\nB=2\nD=3\nE='".utf8), name: "a.env")
        #expect(values == ["B": "1", "D": "3"])
        #expect(
            problems.map { $0.error.prefix(13) } == [
                "a.env, line 1", "a.env, line 3", "a.env, line 4", "a.env, line 6",
            ])
    }

    @Test("a file that is not UTF-8 is refused")
    func notUTF8() {
        #expect(EnvironmentFile.read([0x41, 0x3D, 0xFF], name: "a.env").problems.count == 1)
    }
}
