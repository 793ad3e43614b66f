import Crypto
import Foundation
import Glibc
import OfferAudit
import OfferCore
import OfferCrypto
import OfferEligibility
import TestSupport
import Testing

/// What a running process notices about the lines that it has written.
@Suite("Audit witness")
struct AuditWitnessTests: AuditFolder {
    let folder: TemporaryFolder
    private let key: HMACSHA256Key

    init() throws {
        folder = try TemporaryFolder()
        key = try AuditSettings.chainKey(Secret("0123456789abcdef"))
    }

    private var lockPath: String { folder.path + "/.audit.jsonl.lock" }

    private func lines(_ name: String = "audit.jsonl") throws -> [String] { try folder.lines(name) }

    private func text(_ lines: some Sequence<String>) -> [UInt8] { lines.flatMap { Array($0.utf8) + [0x0A] } }

    /// The findings of a verification, by line.
    private func check(_ lines: [String], key: HMACSHA256Key? = nil) throws -> [Int: AuditCheck.Finding] {
        var check = AuditCheck(key: key)
        return try lines.enumerated().reduce(into: [:]) { findings, line in
            findings[line.offset] = try check.take(Array(line.element.utf8)[...])
        }
    }

    /// The breaks among the findings, as the numbers of the known and the found line.
    private func breaks(_ file: AuditFile) -> [[UInt64]] {
        file.takeFindings().compactMap { finding in
            guard case .broken(let found) = finding else { return nil }
            return [found.known.number, found.found?.number ?? 0]
        }
    }

    /// The last known lines of missing files, among the findings; 0 for any other finding.
    private func gone(_ file: AuditFile) -> [UInt64] {
        file.takeFindings().map { if case .fileGone(let line) = $0 { line } else { 0 } }
    }

    // MARK: Breaks

    @Test("erased lines are marked, verification reports them, and putting them back makes the chain whole again")
    func erased() throws {
        let file = file()
        try append("a", "b", "c", "d", to: file)
        let whole = try lines()
        try folder.write(text(whole.prefix(2)), to: "audit.jsonl")
        try append("e", to: file)
        #expect(breaks(file) == [[5, 2]])
        #expect(file.problems.map(\.error).count == 1)
        let after = try lines()
        #expect(after.count == 4)
        #expect(after[2].contains(#""event":"break","lastLine":5,"lastHash":""#))
        #expect(after[2].contains(#""foundLine":2,"foundHash":""#))
        #expect(try check(after) == [2: .missing(3...5)])
        #expect(try check(whole + after[2...]) == [5: .marked])
        // The next line is not a break.
        try append("f", to: file)
        #expect(breaks(file) == [] && file.problems.count == 1)
    }

    enum Attack: String, CaseIterable {
        case cut, emptied, replaced, lastLineRemade, forgedBeyond, insertedAfter
    }

    @Test("every way of altering the file under a running process is marked once", arguments: Attack.allCases)
    func altered(attack: Attack) throws {
        let (file, other) = (file(), self.file(at: folder.path + "/other"))
        try append("a", "b", "c", to: file)
        for _ in 0..<3 { try append("x", "y", to: other) }
        let (ours, forged) = (try lines(), try lines("other"))
        switch attack {
        case .cut: try folder.write(text(ours.prefix(3)), to: "audit.jsonl")
        case .emptied: try folder.write([], to: "audit.jsonl")
        case .replaced: try folder.drop(text(ours.prefix(2)), as: "audit.jsonl")
        case .lastLineRemade: try folder.write(text(ours.prefix(3) + [forged[3]]), to: "audit.jsonl")
        case .forgedBeyond: try folder.write(text(forged), to: "audit.jsonl")
        case .insertedAfter: try folder.write(text(ours + [forged[4]]), to: "audit.jsonl")
        }
        try file.checkLines()
        #expect(breaks(file).count == 1)
        #expect(file.problems.count == 1)
        #expect(try lines().last?.contains(#""event":"break""#) == true)
        #expect(try !check(lines()).isEmpty)
        try append("d", to: file)
        try file.checkLines()
        #expect(breaks(file) == [])
    }

    @Test("a check of an unaltered file writes nothing")
    func unaltered() throws {
        let (one, other) = (file(), file())
        try one.checkLines()
        #expect(!FileManager.default.fileExists(atPath: path))
        try append("a", to: one)
        try append("b", "c", to: other)
        let before = try folder.read("audit.jsonl")
        for file in [one, other] {
            try file.checkLines()
            #expect(file.head.number == 4)
            #expect(file.takeFindings().isEmpty && file.problems.isEmpty)
        }
        #expect(try folder.read("audit.jsonl") == before)
    }

    @Test("a break stays a problem until it is acknowledged, also for other processes and after a restart")
    func acknowledged() throws {
        let (one, other) = (file(), file())
        try append("a", to: one)
        try append("b", to: other)
        try append("c", "d", to: one)
        try folder.write(text(try lines().prefix(3)), to: "audit.jsonl")
        try append("e", to: one)
        #expect(breaks(one) == [[5, 3]])
        // The other process knew only lines that are still there.
        try append("f", to: other)
        #expect(breaks(other) == [] && other.problems == one.problems)
        let restarted = file()
        try append("g", to: restarted)
        #expect(restarted.problems == one.problems && one.problems.count == 1)
        #expect(AuditFile.openBreak(path: path) == 6)

        #expect(try file().acknowledgeBreaks(user: "operator") == 6)
        #expect(try lines().last?.contains(#""event":"break acknowledged","user":"operator""#) == true)
        for file in [one, other, restarted] {
            try file.checkLines()
            #expect(file.problems == [] && breaks(file) == [])
        }
        let later = file()
        try append("h", to: later)
        #expect(later.problems == [])
        #expect(AuditFile.openBreak(path: path) == nil)
        #expect(try file().acknowledgeBreaks(user: nil) == nil)
    }

    @Test("a break that cannot be marked yet is reported at once, and marked once the file can be written")
    func markedLater() throws {
        struct Broken: Error {}
        let file = file()
        try append("a", "b", to: file)
        try folder.write(text(try lines().prefix(1)), to: "audit.jsonl")
        for expected in [[[3, 1]], []] as [[[UInt64]]] {
            #expect(throws: AuditFault.self) { try file.append { _, _ in throw Broken() } }
            #expect(breaks(file) == expected)
        }
        try append("c", to: file)
        #expect(breaks(file) == [] && file.problems.count == 1)
        #expect(try lines()[1].contains(#""line":4,"time":"2026-01-01T00:00:00.000Z","event":"break","lastLine":3"#))
    }

    @Test("a file that begins after the last known line is a break where that line was, with or without HMACs")
    func forgedBeginning() throws {
        for key in [nil, key] {
            let file = file(key: key)
            try append("a", "b", "c", "d", to: file)
            // Whoever can read the trail knows the hash of its last line.
            var (chain, begin) = (file.head, [UInt8]())
            chain.seal = .hash
            try chain.append(to: &begin) { writer in
                writer.member("time", "2026-01-01T00:00:00.000Z")
                writer.member("event", "begin")
                writer.member("previous", hexadecimal: file.head.hash)
            }
            try folder.write(begin, to: "audit.jsonl")
            try file.checkLines()
            #expect(breaks(file) == [[5, 6]])
            #expect(try lines().last?.contains(#""event":"break","lastLine":5"#) == true)
            try folder.remove("audit.jsonl")
        }
    }

    @Test("a new file that begins after the last known line is a missing file if no file beside it holds that line")
    func newBeginning() throws {
        let (file, other) = (file(), file())
        try append("a", to: file)
        try append("b", to: other)
        try folder.remove("audit.jsonl")
        try append("c", to: other)
        try append("d", to: file)
        #expect(gone(file) == [3])
        #expect(try lines().count == 3)
    }

    @Test("the whole last line is compared, not only its hash")
    func lastLineAltered() throws {
        let file = file()
        try append("a", "b", to: file)
        try folder.write(text(try lines().map { $0.replacing("\"b\"", with: "\"x\"") }), to: "audit.jsonl")
        try file.checkLines()
        #expect(breaks(file) == [[3, 3]])
    }

    // MARK: Damaged files

    enum Damage: String, CaseIterable {
        case emptyLine, line, erasedAndEmptyLine, onlyAnotherLine, replacedByAnotherFile, zeros, hugeNumber
    }

    @Test(
        "whatever is written into the file, the break is marked, nothing is lost and writing goes on",
        arguments: Damage.allCases)
    func damaged(damage: Damage) throws {
        let (file, other) = (file(), file())
        try append("a", to: other)
        try append("b", "c", to: file)
        try other.checkLines()
        let ours = try lines()
        let huge = #"{"line":999999999999999,"x":"","hash":"\#(String(repeating: "f", count: 64))"}"#
        switch damage {
        case .emptyLine: try folder.write(text(ours + [""]), to: "audit.jsonl")
        case .line: try folder.write(text(ours + ["root:x:0:0"]), to: "audit.jsonl")
        case .erasedAndEmptyLine: try folder.write(text(ours.prefix(2) + [""]), to: "audit.jsonl")
        case .onlyAnotherLine: try folder.write(text(["root:x:0:0"]), to: "audit.jsonl")
        case .replacedByAnotherFile: try folder.drop(text(["root:x:0:0"]), as: "audit.jsonl")
        case .zeros: try folder.write(text(ours) + [UInt8](repeating: 0, count: 5 << 20), to: "audit.jsonl")
        case .hugeNumber: try folder.write(text(ours + [huge]), to: "audit.jsonl")
        }
        let damaged = try folder.read("audit.jsonl")
        try append("d", to: file)
        #expect(breaks(file).map(\.first) == [4] && file.problems.count == 1)
        let after = try lines()
        #expect(after.count == 3)
        #expect(after[0].contains(#""line":5,"time":"2026-01-01T00:00:00.000Z","event":"begin","previous":"#))
        #expect(after[1].contains(#""event":"break","lastLine":4"#))
        #expect(try check(ours + after) == [5: .marked])
        #expect(try folder.read("audit.jsonl.damaged-000000000004") == damaged)
        // The other process reads the mark, and a restarted one continues from it.
        try append("e", to: other)
        let restarted = self.file()
        try append("f", to: restarted)
        #expect(try lines().count == 5 && restarted.problems == file.problems && other.problems == file.problems)
        #expect(try check(ours + lines()) == [5: .marked])
    }

    @Test("a file that was damaged while no process was running is refused and left unchanged")
    func damagedBeforeStart() throws {
        try append("a", to: file())
        let damaged = text(try lines() + [""])
        try folder.write(damaged, to: "audit.jsonl")
        #expect(throws: AuditFault.self) { try append("b", to: file()) }
        #expect(try folder.read("audit.jsonl") == damaged)
    }

    // MARK: The marks of other processes

    /// The numbers of the lines with which other processes have marked a break, among the findings.
    private func marks(_ file: AuditFile) -> [UInt64] {
        file.takeFindings().compactMap { if case .markedElsewhere(let line) = $0 { line } else { nil } }
    }

    @Test("two processes that knew the same line mark its loss once")
    func markedOnce() throws {
        let (one, other) = (file(), file())
        try append("a", "b", to: one)
        try other.append { _, _ in }
        try append("c", to: one)
        try other.checkLines()
        try folder.write(text(try lines().prefix(2)), to: "audit.jsonl")
        try append("d", to: one)
        try append("e", to: other)
        try append("f", to: one)
        #expect(try lines().count { $0.contains(#""event":"break""#) } == 1)
        #expect(breaks(one) == [[4, 2]])
        #expect(marks(other) == [5])
        #expect(other.problems == one.problems && other.problems.count == 1)
        #expect(try check(lines()) == [2: .missing(3...4)])
    }

    /// A line without an HMAC that marks a break.
    private func forgedMark(after known: AuditChain) throws -> String {
        var (chain, mark) = (known, [UInt8]())
        chain.seal = .hash
        try chain.append(to: &mark) { writer in
            writer.member("time", "2026-01-01T00:00:00.000Z")
            writer.member("event", "break")
            writer.member("lastLine", Int64(known.number))
            writer.member("lastHash", hexadecimal: known.hash)
        }
        return String(decoding: mark.dropLast(), as: UTF8.self)
    }

    @Test("a mark that this process did not make is reported, so that a forged one cannot hide anything")
    func forgedMark() throws {
        let file = file()
        try append("a", "b", to: file)
        let elsewhere = AuditChain(number: 7, hash: [UInt8](repeating: 0xAB, count: 32))
        try folder.write(text(try lines() + [forgedMark(after: elsewhere)]), to: "audit.jsonl")
        try file.checkLines()
        #expect(marks(file) == [8])
        #expect(file.problems.count == 1)
        // A number that would soon exceed the limit is not read on from.
        let far = AuditChain(number: 99_999_999_999_990, hash: elsewhere.hash)
        try folder.write(text(try lines() + [forgedMark(after: far)]), to: "audit.jsonl")
        try file.checkLines()
        #expect(breaks(file) == [[8, 99_999_999_999_991]])
        #expect(file.head.number == 9)
    }

    @Test("where lines have an HMAC, a mark needs one")
    func forgedMarkWithoutKey() throws {
        let file = file(key: key)
        try append("a", "b", to: file)
        try folder.write(text(try lines().prefix(1) + [forgedMark(after: file.head)]), to: "audit.jsonl")
        try file.checkLines()
        #expect(breaks(file) == [[3, 4]])
    }

    // MARK: Rotation

    @Test(
        "rotation by rename is not a break, even if the renamed file is moved or removed before the next line",
        arguments: ["audit.jsonl.1", "audit.jsonl-20260101", "elsewhere", nil])
    func renamed(name: String?) throws {
        let (file, other) = (file(), self.file())
        try append("a", to: file)
        try append("b", to: other)
        if let name {
            try FileManager.default.moveItem(atPath: path, toPath: folder.path + "/" + name)
        } else {
            try folder.remove("audit.jsonl")
        }
        try append("c", to: file)
        let isBeside = name?.hasPrefix("audit.jsonl") == true
        #expect(gone(file) == (isBeside ? [] : [3]))
        try append("d", to: other)
        #expect(breaks(other) == [])
        #expect(try lines().count == 3)
        #expect(try check(lines()) == [:])
        #expect(file.problems == [] && other.problems == [])
    }

    @Test("a process that misses whole files notices no break")
    func missedFiles() throws {
        let (idle, busy) = (file(), file(rotatesAtBytes: 1))
        try append("a", to: idle)
        for word in ["b", "c", "d"] { try append(word, to: busy) }
        try append("e", to: idle)
        #expect(breaks(idle) == [] && breaks(busy) == [])
        #expect(try check(lines()) == [:])
    }

    @Test("a file that is copied and emptied is not a break")
    func copied() throws {
        let file = file()
        try append("a", to: file)
        try FileManager.default.copyItem(atPath: path, toPath: path + ".1")
        try folder.write([], to: "audit.jsonl")
        try append("b", to: file)
        #expect(file.takeFindings().isEmpty)
        #expect(try check(lines("audit.jsonl.1") + lines()) == [:])
    }

    // MARK: The lock

    @Test("someone who may only read the trail cannot stop writing with a lock on it")
    func readLock() throws {
        let file = file()
        try append("a", to: file)
        let reader = try #require(FileHandle(forReadingAtPath: path))
        var lock = Glibc.flock()
        lock.l_type = Int16(F_RDLCK)
        // F_OFD_SETLK, which Swift does not import.
        #expect(unsafe fcntl(reader.fileDescriptor, 37, &lock) == 0)
        try append("b", to: file)
        #expect(try lines().count == 3)
    }

    private func mode(of path: String) throws -> Int? {
        try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
    }

    @Test(
        "only the service's account can open the lock file, even if it was created by hand", arguments: [false, true])
    func lockMode(isThere: Bool) throws {
        if isThere { try folder.write([], to: ".audit.jsonl.lock", mode: 0o644) }
        try append("a", to: file())
        #expect(try mode(of: lockPath) == 0o600)
    }

    @Test("a lock file that is a link or a folder is a setup fault, which the check before startup finds too")
    func badLock() throws {
        for name in ["link", "folder"] {
            if name == "link" {
                try FileManager.default.createSymbolicLink(atPath: lockPath, withDestinationPath: "/dev/null")
            } else {
                try FileManager.default.createDirectory(atPath: lockPath, withIntermediateDirectories: false)
            }
            let check = #expect(throws: AuditFault.self) { try AuditFile.check(path: path) }
            let append = #expect(throws: AuditFault.self) { try file().append { _, _ in } }
            for fault in [check, append] {
                #expect(fault?.isSetup == true && fault?.description.contains(lockPath) == true, "\(name)")
            }
            try folder.remove(".audit.jsonl.lock")
        }
        try append("a", to: file())
    }

    @Test("a lock file that is removed is made again")
    func removedLock() throws {
        let (one, other) = (file(), file())
        try append("a", to: one)
        try folder.remove(".audit.jsonl.lock")
        try append("b", to: other)
        try append("c", to: one)
        #expect(try mode(of: lockPath) == 0o600)
        #expect(try check(lines()) == [:] && lines().count == 4)
    }

    @Test("a lock file that was moved away is made again, so that all processes lock the same file")
    func movedLock() throws {
        let (one, other) = (file(), file())
        try append("a", to: one)
        try FileManager.default.moveItem(atPath: lockPath, toPath: folder.path + "/moved")
        try append("b", to: one)
        #expect(try mode(of: lockPath) == 0o600)
        try append("c", to: other)
        #expect(try check(lines()) == [:] && lines().count == 4)
    }

    @Test(
        "a lock file or trail of another account is a setup fault", .enabled(if: geteuid() == 0, "requires root"),
        arguments: [".audit.jsonl.lock", "audit.jsonl", "audit.jsonl.1"])
    func otherAccount(name: String) throws {
        try append("a", to: file())
        if name == "audit.jsonl.1" { try FileManager.default.moveItem(atPath: path, toPath: path + ".1") }
        #expect(unsafe chown(folder.path + "/" + name, 12345, 12345) == 0)
        let before = try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
        let found = #expect(throws: AuditFault.self) { try file(rotatesAtBytes: 1).acknowledgeBreaks(user: "root") }
        let fault = try #require(found)
        #expect(fault.isSetup && fault.description.contains("belongs to another account"))
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted() == before)
        guard name == ".audit.jsonl.lock" else { return }
        #expect(throws: fault) { try AuditFile.check(path: path) }
        #expect(throws: fault) { try append("b", to: file()) }
    }

    @Test("acknowledging neither rotates the file nor creates the lock file, and works right after a rotation")
    func acknowledgedOnly() throws {
        try append("a", to: file())
        _ = try file(rotatesAtBytes: 1).acknowledgeBreaks(user: nil)
        #expect(try lines().count == 3)
        try FileManager.default.moveItem(atPath: path, toPath: path + ".1")
        for isEmpty in [false, true] {
            if isEmpty { try folder.write([], to: "audit.jsonl") }
            #expect(try AuditFile.head(path: path).number == 3)
        }
        _ = try file().acknowledgeBreaks(user: nil)
        #expect(try lines().count == 2 && AuditFile.head(path: path).number == 5)
        try folder.remove(".audit.jsonl.lock")
        #expect(throws: AuditFault.self) { try file().acknowledgeBreaks(user: nil) }
        #expect(!FileManager.default.fileExists(atPath: lockPath))
    }

    // MARK: HMAC

    @Test("lines with an HMAC agree with an independent implementation, and need the key to be verified")
    func keyed() throws {
        let file = file(key: key)
        try append("a", to: file)
        try append("b", to: file)
        let lines = try lines()
        let chainKey = Crypto.HMAC<Crypto.SHA256>.authenticationCode(
            for: Data([0xFF] + "audit chain".utf8), using: SymmetricKey(data: Data("0123456789abcdef".utf8)))
        var previous = Data(count: 32)
        for line in lines {
            let content = try #require(line.firstRange(of: ",\"hmac\":")).lowerBound
            previous = Data(
                Crypto.HMAC<Crypto.SHA256>.authenticationCode(
                    for: previous + line[..<content].utf8, using: SymmetricKey(data: chainKey)))
            #expect(line.hasSuffix(",\"hmac\":\"\(previous.map { String(format: "%02x", $0) }.joined())\"}"))
        }
        #expect(try check(lines, key: key) == [:])
        #expect(throws: AuditLine.KeyMissing.self) { try check(lines) }
        let altered = [lines[0], lines[1].replacing("\"a\"", with: "\"x\""), lines[2]]
        #expect(try check(altered, key: key)[1] == .altered)
        #expect(try check(lines, key: AuditSettings.chainKey(Secret("fedcba9876543210")))[0] == .altered)
    }

    @Test("a trail can change between the two kinds of line, and each process verifies the lines of the others")
    func mixed() throws {
        let (plain, keyed) = (file(), file(key: key))
        try append("a", to: plain)
        try append("b", to: keyed)
        #expect(try lines().map { $0.contains("\"hmac\"") } == [false, false, true])
        #expect(try check(lines(), key: key) == [:])
        #expect(breaks(keyed) == [] && AuditFile.openBreak(path: path) == nil)
        // The process without HMACs accepts both kinds. To the one with HMACs, anyone could have written the line.
        try append("c", to: plain)
        #expect(breaks(plain) == [])
        try keyed.checkLines()
        #expect(breaks(keyed) == [[3, 4]])
        #expect(try lines().last?.contains(#""event":"break","lastLine":3"#) == true)
        // Without the key, a forged line cannot be told from a genuine one. With it, the forged line is a break.
        let lines = try lines()
        let forged = lines[2].replacing("\"b\"", with: "\"x\"").replacing("\"line\":3", with: "\"line\":6")
        try folder.write(text(lines + [forged]), to: "audit.jsonl")
        try keyed.checkLines()
        #expect(breaks(keyed) == [[5, 6]])
    }

    @Test("lines without an HMAC after lines with one are a break at the start too, and once it is marked, no more")
    func downgradeAtStart() throws {
        try append("a", to: file(key: key))
        try append("b", "c", to: file())
        let restarted = file(key: key)
        try append("d", to: restarted)
        #expect(breaks(restarted) == [[2, 4]])
        #expect(try lines()[4].contains(#""line":5,"time":"2026-01-01T00:00:00.000Z","event":"break","lastLine":2"#))
        let later = file(key: key)
        try append("e", to: later)
        #expect(breaks(later) == [] && later.problems == restarted.problems)
    }

    @Test("a process with another key refuses to start, says what to do, and disturbs no one")
    func otherKey() throws {
        let keys = try ["0123456789abcdef", "fedcba9876543210"].map { try AuditSettings.chainKey(Secret($0)) }
        let old = file(key: keys[0])
        try append("a", to: old)
        let before = try folder.read("audit.jsonl")
        let rules = AuditRules(key: keys[1], needsKey: true)
        let doctor = #expect(throws: AuditFault.self) { try AuditFile.check(path: path, rules: rules) }
        let start = #expect(throws: AuditFault.self) { try append("b", to: file(key: keys[1])) }
        for fault in [doctor, start] {
            #expect(fault?.isSetup == true && fault?.description.contains("if the key has changed, stop every") == true)
        }
        #expect(try folder.read("audit.jsonl") == before)
        try append("c", to: old)
        #expect(old.takeFindings().isEmpty)
        // With the file renamed, the chain continues under the new key.
        try FileManager.default.moveItem(atPath: path, toPath: path + ".1")
        let new = file(key: keys[1])
        try append("d", to: new)
        #expect(try check(lines(), key: keys[1]) == [:] && new.head.number == 5)
        #expect(try check(lines("audit.jsonl.1"), key: keys[0]) == [:])
    }

    @Test("verification reports a line without an HMAC after one with an HMAC, unless HMACs were switched off")
    func downgrade() throws {
        try append("a", to: file(key: key))
        try append("b", "c", to: file())
        #expect(try check(lines(), key: key) == [2: .unkeyed])
        var allowing = AuditCheck(key: key, allowsUnkeyed: true)
        for line in try lines() { #expect(try allowing.take(Array(line.utf8)[...]) == nil) }
        #expect(allowing.hasKeyedLines && allowing.lastWithoutKey == 4)
        // Switching HMACs on is no finding.
        try folder.remove("audit.jsonl")
        try append("a", to: file())
        try append("b", to: file(key: key))
        #expect(try check(lines(), key: key) == [:])
    }

    @Test("where lines have an HMAC, only a line with one acknowledges a break")
    func keyedAcknowledgement() throws {
        let running = file(key: key)
        try append("a", "b", to: running)
        try folder.write(text(try lines().prefix(1)), to: "audit.jsonl")
        try running.checkLines()
        #expect(try file().acknowledgeBreaks(user: "stranger") == 4)
        try running.checkLines()
        #expect(running.problems == [AuditBreak.problem(line: 6)], "the stranger's line is a break")
        #expect(try file(key: key).acknowledgeBreaks(user: "operator") == 6)
        try running.checkLines()
        #expect(running.problems == [])
    }

    @Test("after a restart, a line with a forged HMAC acknowledges nothing")
    func forgedAcknowledgement() throws {
        let running = file(key: key)
        try append("a", "b", to: running)
        try folder.write(text(try lines().prefix(1)), to: "audit.jsonl")
        try running.checkLines()
        let marked = try lines()
        let hmac = String(repeating: "0123456789abcdef", count: 4)
        let forged =
            #"{"line":5,"time":"2026-01-01T00:00:00.000Z","event":"break acknowledged","hmac":"\#(hmac)"}"#
        try folder.write(text(marked + [forged]), to: "audit.jsonl")
        #expect(AuditFile.openBreak(path: path, rules: AuditRules(key: key, needsKey: true)) == 4)
        #expect(throws: AuditFault.self) { try append("c", to: file(key: key)) }
        // Not even if genuine lines follow.
        try running.checkLines()
        let restarted = file(key: key)
        try append("c", to: restarted)
        #expect(restarted.problems.count == 1)
    }

    // MARK: Head

    @Test("the head of a file is its last complete line")
    func head() throws {
        let file = file()
        try append("a", "b", to: file)
        let head = try AuditFile.head(path: path)
        #expect(head.number == 3 && head.hash == file.head.hash)
        try folder.write(try folder.read("audit.jsonl").dropLast(5), to: "audit.jsonl")
        #expect(try AuditFile.head(path: path).number == 2)
        try folder.write("text\n".utf8, to: "other")
        for name in ["other", "none"] {
            #expect(throws: AuditFault.self) { try AuditFile.head(path: folder.path + "/" + name) }
        }
    }
}
