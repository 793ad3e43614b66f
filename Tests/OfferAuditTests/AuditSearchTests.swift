import OfferCore
import TestSupport
import Testing

@testable import OfferAudit

@Suite("The search of the console in the audit trail")
struct AuditSearchTests {
    private static func line(_ number: Int, _ caller: String, padding: Int = 0, marker: String = "") -> String {
        let padding = String(repeating: "x", count: padding)
        return #"{"line":\#(number),"time":"2026-01-02T03:04:05Z","event":"customer","request":"\#(padding)","#
            + #""caller":"\#(caller)","kind":"console_search","person":"Ada \#(number)","#
            + #""text":"\#(marker)","outcome":"accepted"}"# + "\n"
    }

    @Test("it finds each complete line of the console once, in a file of many megabytes", arguments: [7, 900])
    func large(share: Int) throws {
        let folder = try TemporaryFolder()
        var random = SplitMix64(seed: 5)
        var (text, numbers) = ("", [Int64]())
        for number in 1...12_000 {
            let isConsole = Int.random(in: 0..<share, using: &random) == 0
            if isConsole { numbers.append(Int64(number)) }
            // Only the beginning of a line says who called.
            let marker = isConsole ? "" : String(repeating: "y", count: 600) + #"\",\"caller\":\"console"#
            text += Self.line(
                number, isConsole ? "console" : "backend", padding: Int.random(in: 0..<300, using: &random),
                marker: marker)
        }
        try folder.write((text + Self.line(1, "console").dropLast(9)).utf8, to: "audit.jsonl")
        #expect(text.utf8.count > 8_000_000)
        let found = try #require(try AuditSearch.consoleLines(path: folder.path + "/audit.jsonl"))
        #expect(found.lines.map(\.number) == numbers.reversed())
        #expect(found.lines.allSatisfy { $0.person == "Ada \($0.number)" } && found.since == nil)
    }

    @Test("it says since when it has searched, and finds no line that begins before")
    func end() throws {
        let folder = try TemporaryFolder()
        let lines = (1...2000).map { Self.line($0, "console", padding: 100) }
        try folder.write(lines.joined().utf8, to: "audit.jsonl")
        let found = try #require(try AuditSearch.consoleLines(path: folder.path + "/audit.jsonl", maximum: 100_000))
        #expect(found.lines.first?.number == 2000 && found.since == Timestamp(dateOrTime: "2026-01-02T03:04:05Z"))
        let oldest = try #require(found.lines.last?.number)
        #expect(found.lines.map(\.number) == Array((oldest...2000).reversed()))
        #expect(lines[Int(oldest - 1)...].joined().utf8.count <= 100_000)
        #expect(lines[Int(oldest - 2)...].joined().utf8.count > 100_000)
    }

    @Test("damage hides no other line", arguments: ["\u{0}\u{0}\n", "\n\n", "{}\n", "\"caller\":\"console\"\n"])
    func damage(damage: String) throws {
        let folder = try TemporaryFolder()
        let long = String(repeating: "z", count: 2_500_000) + "\n"
        let text = Self.line(1, "console") + damage + long + Self.line(2, "console") + damage
        try folder.write(text.utf8, to: "audit.jsonl")
        let found = try #require(try AuditSearch.consoleLines(path: folder.path + "/audit.jsonl"))
        #expect(found.lines.map(\.number) == [2, 1])
    }
}
