import OfferAudit
import OfferCore
import OfferCrypto
import OfferEligibility

extension FuzzTarget {
    /// The lines of an audit trail, as `offer-signer audit verify` reads them. The input is the content of a file. Text
    /// after the last line feed is read as a line too.
    static let auditLines = FuzzTarget("audit-lines") { input throws(BrokenPromise) in
        let texts = input.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        var lines: [AuditLine] = []
        for text in texts {
            guard let line = AuditLine(text) else { continue }
            try check(line, of: text)
            lines.append(line)
        }
        _ = try findings(in: texts)
        try checkLinks(of: lines)
    }

    private static func check(_ line: AuditLine, of text: ArraySlice<UInt8>) throws(BrokenPromise) {
        try promise(
            "a line is unchanged after it is parsed and encoded again",
            line.content + ending(isKeyed: line.isKeyed, line.hash) == text)
        // Only the parts that the chain requires are parsed. In text that is JSON, they must be the members.
        guard case .object(let object)? = try? JSONReader.read(Array(text), maximumCount: 100_000) else { return }
        let (first, last) = (object.members.first, object.members.last)
        try promise(
            "the first member is the line's number",
            first?.name == Array("line".utf8) && first?.value == .number(Array("\(line.number)".utf8)))
        try promise(
            "the last member is the line's hash",
            last?.name == Array((line.isKeyed ? "hmac" : "hash").utf8)
                && last?.value == .string(Hexadecimal.utf8(of: line.hash)))
        try promise(
            "a line's event is its member",
            line.event.map { object["event"] == .string(Array($0.rawValue.utf8)) } ?? true)
    }

    // MARK: Verification

    /// Verifies a trail and returns the finding for each line. Every line that verifies must fail once it is altered.
    private static func findings(
        in texts: [ArraySlice<UInt8>], key: HMACSHA256Key = chainKey
    ) throws(BrokenPromise) -> [AuditCheck.Finding?] {
        var check = AuditCheck(key: key, allowsUnkeyed: true)
        var findings: [AuditCheck.Finding?] = []
        for text in texts {
            var before = check
            // After text that is not a line, there is no hash to compare with.
            let isLinked = before.lineCount == 0 || before.chain != nil
            let found = try finding(for: text, &check)
            findings.append(found)
            guard isLinked, isWhole(found), let line = AuditLine(text) else { continue }
            let altered = try finding(for: turningOneBit(of: text, line.hash), &before)
            try promise("an altered line does not verify", !isWhole(altered))
        }
        return findings
    }

    private static func finding(
        for text: ArraySlice<UInt8>, _ check: inout AuditCheck
    ) throws(BrokenPromise) -> AuditCheck.Finding? {
        do { return try check.take(text) } catch {
            throw BrokenPromise(promise: "with a key, every line can be checked")
        }
    }

    /// Whether the line with this finding continues the previous one. A line that marks a break does too.
    private static func isWhole(_ finding: AuditCheck.Finding?) -> Bool { finding == nil || finding == .marked }

    /// Alters one bit, whose place depends on the hash, so that each input tries another.
    private static func turningOneBit(of text: ArraySlice<UInt8>, _ hash: [UInt8]) -> ArraySlice<UInt8> {
        var altered = Array(text)
        altered[(Int(hash[0]) << 8 | Int(hash[1])) % altered.count] ^= 1 << (hash[2] & 7)
        return altered[...]
    }

    // MARK: The chain

    /// Verifies a trail of lines with this content. It is linked here, because the fuzzer cannot discover hashes.
    private static func checkLinks(of lines: [AuditLine]) throws(BrokenPromise) {
        let texts = try linked(lines)
        try promise("a trail that follows the rules verifies", findings(in: texts).allSatisfy(isWhole))
        try checkUnkeyed(lines, texts)
        let verifies = try findings(in: texts, key: otherKey).map(isWhole)
        try promise("a line with an HMAC verifies only with its key", verifies == lines.map { !$0.isKeyed })
    }

    /// Without permission, a line without an HMAC after a line with one is a finding, and nothing else is.
    private static func checkUnkeyed(_ lines: [AuditLine], _ texts: [ArraySlice<UInt8>]) throws(BrokenPromise) {
        var check = AuditCheck(key: chainKey)
        for (index, text) in texts.enumerated() {
            let isDowngrade = index > 0 && lines[index - 1].isKeyed && !lines[index].isKeyed
            let isFound = try finding(for: text, &check) == .unkeyed
            try promise("a line without an HMAC after a line with one is found", isFound == isDowngrade)
        }
    }

    /// Numbers the lines and computes their hashes.
    private static func linked(_ lines: [AuditLine]) throws(BrokenPromise) -> [ArraySlice<UInt8>] {
        var chain = beginning(of: lines)
        var texts: [ArraySlice<UInt8>] = []
        for line in lines {
            let content =
                Array(#"{"line":\#(chain.number + 1)"#.utf8) + line.content.drop { $0 != UInt8(ascii: ",") }
            let hash =
                line.isKeyed
                ? try? chainKey.code(of: chain.hash, content[...]) : try? SHA256.hash(chain.hash, content[...])
            guard let hash else { throw BrokenPromise(promise: "every line has a hash") }
            chain = AuditChain(number: chain.number + 1, hash: hash)
            texts.append((content + ending(isKeyed: line.isKeyed, hash))[...])
        }
        return texts
    }

    /// The chain before the first line, which continues from another file if the line says so.
    private static func beginning(of lines: [AuditLine]) -> AuditChain {
        guard let first = lines.first, (2...1_000_000).contains(first.number), let previous = first.previous else {
            return .beginning
        }
        return AuditChain(number: first.number - 1, hash: previous)
    }

    /// The text after the content of a line.
    private static func ending(isKeyed: Bool, _ hash: [UInt8]) -> [UInt8] {
        Array(#","\#(isKeyed ? "hmac" : "hash")":"\#(Hexadecimal.text(of: hash))"}"#.utf8)
    }

    /// The key of the HMACs in the corpus.
    private static let chainKey = key("audit-key-of-the-fuzz-corpus-only")
    private static let otherKey = key("another-audit-key-of-32-bytes-or-more")

    private static func key(_ auditKey: String) -> HMACSHA256Key {
        guard let key = try? AuditSettings.chainKey(Secret(auditKey)) else { fatalError("cannot derive an HMAC key") }
        return key
    }
}
