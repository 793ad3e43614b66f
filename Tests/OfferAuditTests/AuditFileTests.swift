import Crypto
import Foundation
import OfferAudit
import OfferCore
import OfferCrypto
import OfferEligibility
import TestSupport
import Testing

@Suite("Audit file")
struct AuditFileTests: AuditFolder {
    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func names() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
    }

    /// Verifies the chain of these files independently of the implementation, and returns each line's text or event.
    private func lines(of names: String...) throws -> [String] {
        var previous = Data(count: 32)
        var number = 0
        return try names.flatMap { name in
            let text = try folder.text(name)
            #expect(text.hasSuffix("\n"))
            return try text.split(separator: "\n").map { line in
                let json = try #require(
                    JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any], "line \(line)")
                let content = try #require(line.firstRange(of: ",\"hash\":")).lowerBound
                let hash = Crypto.SHA256.hash(data: previous + line[..<content].utf8)
                #expect(json["hash"] as? String == hash.map { String(format: "%02x", $0) }.joined())
                number += 1
                #expect(json["line"] as? Int == number)
                if json["event"] as? String == "begin" {
                    #expect(json["previous"] as? String == previous.map { String(format: "%02x", $0) }.joined())
                }
                previous = Data(hash)
                return json["text"] as? String ?? json["event"] as? String ?? "?"
            }
        }
    }

    @Test("each line's hash covers the line and the previous hash, as an independent SHA-256 confirms")
    func chain() throws {
        let file = file()
        try append("a", "b\"\\\u{1F600}", to: file)
        try append("c", to: file)
        #expect(try lines(of: "audit.jsonl") == ["begin", "a", "b\"\\\u{1F600}", "c"])
        let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
        #expect(mode == 0o600)
    }

    @Test("a restarted process continues the chain")
    func restart() throws {
        try append("a", to: file())
        try append("b", to: file())
        #expect(try lines(of: "audit.jsonl") == ["begin", "a", "b"])
    }

    @Test("two writers that append to the same file in turn keep one chain")
    func twoWriters() throws {
        let (one, other) = (file(), file())
        for word in ["a", "b", "c"] {
            try append(word, to: one)
            try append(word.uppercased(), to: other)
        }
        #expect(try lines(of: "audit.jsonl") == ["begin", "a", "A", "b", "B", "c", "C"])
    }

    @Test("a renamed file is left alone, and the chain continues in a new file", arguments: [false, true])
    func renamed(isAnotherAtIt: Bool) throws {
        let (one, other) = (file(), file())
        try append("a", to: one)
        if isAnotherAtIt { try append("b", to: other) }
        try FileManager.default.moveItem(atPath: path, toPath: folder.path + "/old")
        try append("c", to: one)
        try append("d", to: other)
        #expect(
            try lines(of: "old", "audit.jsonl") == ["begin", "a"] + (isAnotherAtIt ? ["b"] : []) + ["begin", "c", "d"])
    }

    @Test("an unfinished line left by a killed process is removed", arguments: [1, 40, 70, 71, 200])
    func cutOff(missing: Int) throws {
        try append("a", to: file())
        let whole = try folder.read("audit.jsonl")
        try append("b", String(repeating: "c", count: 100), to: file())
        try folder.write(try folder.read("audit.jsonl").dropLast(missing), to: "audit.jsonl")
        try append("d", to: file())
        #expect(try folder.read("audit.jsonl").starts(with: whole))
        let found = try lines(of: "audit.jsonl")
        #expect(found.first == "begin" && found.last == "d" && found.count < 6)
    }

    @Test("verification reports an unfinished line and continues")
    func cutOffInCheck() throws {
        var check = AuditCheck()
        let file = file()
        for word in ["a", "b"] { try append(word, to: file) }
        let lines = try folder.lines("audit.jsonl")
        let found = try [
            check.take(Array(lines[0].utf8)[...]), check.take(Array(lines[1].utf8)[...]),
            check.take(Array(lines[2].utf8.prefix(50))[...], isFinished: false), check.take(Array(lines[2].utf8)[...]),
        ]
        #expect(found == [nil, nil, .unfinished, nil])
    }

    @Test("a file whose first line is unfinished is started over")
    func cutOffAtOnce() throws {
        try append("a", to: file())
        try folder.write(try folder.read("audit.jsonl").prefix(30), to: "audit.jsonl")
        try append("b", to: file())
        #expect(try lines(of: "audit.jsonl") == ["begin", "b"])
    }

    @Test(
        "a file that is not an audit trail is refused and left unchanged",
        arguments: ["root:x:0:0\n", "no line end", "{\"line\":1}\n", String(repeating: "x", count: 200_000)])
    func otherFile(text: String) throws {
        try folder.write(text.utf8, to: "audit.jsonl")
        #expect(throws: AuditFault.self) { try append("a", to: file()) }
        #expect(try folder.read("audit.jsonl") == Array(text.utf8))
    }

    @Test("zeros after a trail, as a power failure leaves them, never cost a line", arguments: [1, 3, 5])
    func zeros(mebibytes: Int) throws {
        try append("a", to: file())
        let trail = try folder.read("audit.jsonl")
        let zeros = [UInt8](repeating: 0, count: mebibytes * 1024 * 1024)
        try folder.write(trail + zeros, to: "audit.jsonl")
        guard mebibytes > 4 else {
            try append("b", to: file())
            #expect(try lines(of: "audit.jsonl") == ["begin", "a", "b"])
            return
        }
        let fault = #expect(throws: AuditFault.self) { try append("b", to: file()) }
        #expect(fault?.isSetup == true && fault?.description.contains("more than 4 MiB") == true)
        #expect(#expect(throws: AuditFault.self) { try AuditFile.check(path: path) } == fault)
        #expect(try folder.read("audit.jsonl") == trail + zeros)
    }

    @Test("a file at its size limit is renamed with its last line number, and no older file is replaced")
    func rotation() throws {
        let file = file(rotatesAtBytes: 400)
        try append("a", to: file)
        try append("b", to: file)
        try append("c", to: file)
        try append("d", to: file)
        let expected = [".audit.jsonl.lock", "audit.jsonl", "audit.jsonl.000000000003"]
        #expect(try names() == expected)
        #expect(try lines(of: "audit.jsonl.000000000003", "audit.jsonl") == ["begin", "a", "b", "begin", "c", "d"])

        // The name for the rotated file is already taken.
        for _ in 0..<2 { try append("e", to: file) }
        try folder.write([], to: "audit.jsonl.000000000009")
        for _ in 0..<2 { try append("f", to: file) }
        #expect(try folder.read("audit.jsonl.000000000009") == [])
        #expect(try names().contains("audit.jsonl.000000000009-2"))
    }

    @Test("a new file continues the rotated file's chain, whichever process wrote it, even after a restart")
    func renamedAndRestarted() throws {
        try append("a", to: file())
        try FileManager.default.moveItem(atPath: path, toPath: path + ".1")
        try append("b", to: file())
        #expect(try lines(of: "audit.jsonl.1", "audit.jsonl") == ["begin", "a", "begin", "b"])

        // The idle writer misses one whole file.
        let (idle, busy) = (file(), file())
        try append("c", to: idle)
        try append("d", to: busy)
        try FileManager.default.moveItem(atPath: path, toPath: path + "-2")
        try append("e", to: busy)
        try FileManager.default.moveItem(atPath: path, toPath: path + "-3")
        try append("f", to: idle)
        let all = try lines(of: "audit.jsonl.1", "audit.jsonl-2", "audit.jsonl-3", "audit.jsonl")
        #expect(all == ["begin", "a", "begin", "b", "c", "d", "begin", "e", "begin", "f"])

        // The file is copied, then truncated in place.
        try FileManager.default.copyItem(atPath: path, toPath: path + ".4")
        try folder.write([], to: "audit.jsonl")
        try append("g", to: file())
        #expect(
            try lines(of: "audit.jsonl.1", "audit.jsonl-2", "audit.jsonl-3", "audit.jsonl.4", "audit.jsonl").suffix(2)
                == ["begin", "g"])
    }

    @Test("an unrelated trail in the folder, or a file that only looks like one, is not continued")
    func foreignSiblings() throws {
        let other = file(at: folder.path + "/elsewhere")
        for _ in 0..<20 { try append("x", to: other) }
        let (running, others) = (file(), try folder.read("elsewhere"))
        try append("a", to: running)
        for number in 0..<30 { try folder.write([0x78, 0x0A], to: "audit.jsonl.t\(number)") }
        try folder.write(others, to: "audit.jsonl.old-era")
        let hash = String(repeating: "f", count: 64)
        try folder.write(#"{"line":999999999999999,"x":"","hash":"\#(hash)"}"#.utf8 + [0x0A], to: "audit.jsonl.last")
        try FileManager.default.moveItem(atPath: path, toPath: path + ".1")
        try append("b", to: running)
        #expect(try lines(of: "audit.jsonl.1", "audit.jsonl") == ["begin", "a", "begin", "b"])
    }

    @Test(
        "a line whose number or hash is not in canonical form is refused",
        arguments: [
            "18446744073709551614", "9223372036854775807", "1000000000000000", "100000000000000", "01", "+1", "-1", "",
            "0",
        ])
    func badNumber(number: String) throws {
        try append("a", to: file())
        let good = try folder.lines("audit.jsonl")[0]
        #expect(AuditLine(Array(good.utf8)[...]) != nil)
        #expect(AuditLine(Array(good.replacing("\"line\":1,", with: "\"line\":\(number),").utf8)[...]) == nil)
        let hash = good.suffix(66).prefix(64)
        #expect(AuditLine(Array(good.replacing(hash, with: hash.uppercased()).utf8)[...]) == nil)
    }

    @Test("a file that cannot be renamed keeps growing and causes a warning")
    func noRotation() throws {
        let named = folder.path + "/named"
        try FileManager.default.createDirectory(atPath: named, withIntermediateDirectories: false)
        let file = file(at: named + "/audit.jsonl", rotatesAtBytes: 1)
        try append("a", to: file)
        #expect(file.problems == [])
        // The rotated file's name would exceed the maximum length.
        let long = self.file(at: named + "/" + String(repeating: "a", count: 249), rotatesAtBytes: 1)
        for word in ["a", "b"] { try append(word, to: long) }
        #expect(long.problems.count == 1)
    }

    @Test("a full device is an error, and the next append succeeds once the file is replaced")
    func full() throws {
        try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: "/dev/full")
        let file = file()
        for _ in 0..<3 { #expect(throws: AuditFault.self) { try append("a", to: file) } }
        try folder.remove("audit.jsonl")
        try append("b", to: file)
        #expect(try lines(of: "audit.jsonl") == ["begin", "b"])
    }

    @Test("a missing folder, or a folder in place of the file, is a setup fault")
    func noFolder() throws {
        #expect { try append("a", to: file(at: folder.path + "/none/audit.jsonl")) } throws: {
            ($0 as? AuditFault)?.isSetup == true
        }
        #expect { try append("a", to: file(at: folder.path)) } throws: { ($0 as? AuditFault)?.isSetup == true }
        #expect { try append("a", to: file(at: "/dev/full")) } throws: { ($0 as? AuditFault)?.isSetup == false }
    }

    @Test("an error while building lines leaves nothing in the file")
    func unmade() throws {
        struct Broken: Error {}
        let file = file()
        try append("a", to: file)
        #expect(throws: AuditFault.self) {
            try file.append { text, chain in
                try chain.append(to: &text) { $0.member("text", "b") }
                throw Broken()
            }
        }
        try append("c", to: file)
        #expect(try lines(of: "audit.jsonl") == ["begin", "a", "c"])
    }

    @Test("the startup check reports the same file and folder faults as an append, and changes nothing")
    func checkBeforeStart() throws {
        try append("a", to: file(at: folder.path + "/good"))
        try folder.write(try folder.read("good").dropLast(20), to: "unfinished")
        try folder.write([], to: "empty")
        try folder.write("root:x:0:0\n".utf8, to: "text")
        try FileManager.default.createSymbolicLink(atPath: folder.path + "/full", withDestinationPath: "/dev/full")
        try FileManager.default.createDirectory(atPath: folder.path + "/folder", withIntermediateDirectories: false)
        let before = try names()
        let texts = try ["good", "unfinished", "empty", "text"].map { try folder.read($0) }
        let found = ["good", "unfinished", "empty", "text", "full", "folder", "none/new", "new"].map { name in
            do throws(AuditFault) {
                try AuditFile.check(path: folder.path + "/" + name)
                return nil as AuditFault?
            } catch { return error }
        }
        #expect(found.map { $0 == nil } == [true, true, true, false, true, false, false, true])
        #expect(try names() == before)
        #expect(try ["good", "unfinished", "empty", "text"].map { try folder.read($0) } == texts)
        for (name, fault) in [("text", found[3]), ("folder", found[5]), ("none/new", found[6])] {
            #expect { try append("b", to: file(at: folder.path + "/" + name)) } throws: { $0 as? AuditFault == fault }
        }
    }

    @Test(
        "the startup check finds a file or folder without write access",
        .enabled(if: geteuid() != 0, "root can write to any file"))
    func notWritable() throws {
        try append("a", to: file())
        try FileManager.default.setAttributes([.posixPermissions: 0o400], ofItemAtPath: path)
        #expect(throws: AuditFault.self) { try AuditFile.check(path: path) }
        try FileManager.default.setAttributes([.posixPermissions: 0o500], ofItemAtPath: folder.path)
        #expect(throws: AuditFault.self) { try AuditFile.check(path: folder.path + "/new") }
        try FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: folder.path)
    }

    // MARK: Verification

    private func findings(in files: [[String]]) throws -> [String: AuditCheck.Finding] {
        var check = AuditCheck()
        var findings: [String: AuditCheck.Finding] = [:]
        for (number, lines) in files.enumerated() {
            for (line, text) in lines.enumerated() {
                findings["\(number):\(line)"] = try check.take(Array(text.utf8)[...])
            }
        }
        return findings
    }

    @Test("verification finds every altered byte and every missing, moved or repeated line")
    func check() throws {
        let file = file()
        for word in ["a", "b", "c", "d"] { try append(word, to: file) }
        let good = try folder.lines("audit.jsonl")
        #expect(try findings(in: [good]) == [:])
        #expect(try findings(in: [Array(good[..<2]), Array(good[2...])]) == [:])
        #expect(try findings(in: [Array(good[1...])]) == ["0:0": .headless])
        #expect(try findings(in: [[good[0], good[1], good[4]]]) == ["0:2": .missing(3...4)])
        #expect(try findings(in: [[good[0], good[2], good[1], good[3], good[4]]])["0:1"] == .missing(2...2))
        #expect(try findings(in: [good, [good[4]]]) == ["1:0": .outOfOrder])
        #expect(try findings(in: [good, good]) == ["1:0": .newTrail])
        // Every byte of every line.
        for (number, line) in good.enumerated() {
            for index in line.utf8.indices {
                var bytes = Array(line.utf8)
                bytes[line.utf8.distance(from: line.startIndex, to: index)] ^= 1
                var altered = good
                altered[number] = String(decoding: bytes, as: UTF8.self)
                #expect(try !findings(in: [altered]).isEmpty, "byte \(index) of line \(number)")
            }
        }
    }

    @Test("after an unfinished line, the first whole line is checked like the first line of a trail")
    func fragmentFirst() throws {
        let file = file()
        for word in ["a", "b"] { try append(word, to: file) }
        let lines = try folder.lines("audit.jsonl")
        func findings(_ line: some StringProtocol) throws -> [AuditCheck.Finding?] {
            var check = AuditCheck()
            return try [
                check.take(Array("{\"li".utf8)[...], isFinished: false), check.take(Array(line.utf8)[...]),
            ]
        }
        #expect(try findings(lines[0]) == [.unfinished, nil])
        #expect(try findings(lines[0].replacing("begin", with: "start")) == [.unfinished, .altered])
        #expect(try findings(lines[1]) == [.unfinished, .headless])
    }

    @Test("only a line that continues the previous one has a verified hash")
    func verifiedHash() throws {
        let file = file()
        for word in ["a", "b", "c"] { try append(word, to: file) }
        let lines = try folder.lines("audit.jsonl")
        func verified(_ lines: [some StringProtocol]) throws -> [Bool] {
            var check = AuditCheck()
            return try lines.map { line in
                _ = try check.take(Array(line.utf8)[...])
                return check.verifiedHash != nil
            }
        }
        #expect(try verified(lines) == [true, true, true, true])
        #expect(try verified([lines[0], lines[2], lines[3]]) == [true, false, true])
        #expect(try verified(["x", lines[1], lines[2]]) == [false, false, true])
        #expect(try verified([lines[1]]) == [false])
    }

    @Test("an altered line with a recomputed hash is detected at the next line")
    func remade() throws {
        let (file, other) = (file(), self.file(at: folder.path + "/other"))
        for word in ["a", "b", "c"] {
            try append(word, to: file)
            try append(word == "b" ? "x" : word, to: other)
        }
        var lines = try folder.lines("audit.jsonl")
        lines[2] = try folder.lines("other")[2]
        #expect(try findings(in: [lines]) == ["0:3": .altered])
    }

    @Test("times are formatted as Foundation formats them", arguments: 0..<500 as Range<UInt64>)
    func times(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        // Starts in 1583, because Foundation uses the Julian calendar for earlier dates.
        let milliseconds = Int64.random(in: -12_212_553_600_000...253_402_300_799_999, using: &random)
        let seconds = Double(milliseconds.quotientAndRemainder(dividingBy: 1000).quotient)
        // Uses whole seconds, because Foundation rounds fractions differently.
        let date = Date(timeIntervalSince1970: seconds)
        let text = String(decoding: Timestamp(milliseconds: Int64(seconds) * 1000).iso8601, as: UTF8.self)
        #expect(text == date.formatted(.iso8601).replacing("Z", with: ".000Z"))
        let withRest = String(decoding: Timestamp(milliseconds: Int64(seconds) * 1000 + 7).iso8601, as: UTF8.self)
        #expect(withRest == text.replacing(".000Z", with: ".007Z"))
    }
}
