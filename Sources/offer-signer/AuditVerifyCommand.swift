import ArgumentParser
import OfferCore
import OfferCrypto
import OfferStorage

/// `offer-signer audit verify`: whether the chain of an audit trail holds.
struct AuditVerifyCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "verify",
        abstract: "Tell whether lines of an audit trail were altered, added or removed.",
        discussion: """
            Each line has a hash over itself and the hash of the line before. Name the files of a trail in their order, \
            oldest first, as they are named by SUBSCRIPTION_OFFERS_AUDIT_ROTATE_MB:

              offer-signer audit verify audit.jsonl.* audit.jsonl

            Exit status 0 if each line goes on from the one before, else 1. Who may write the files can make all of it anew \
            from some line on, or cut off its end, and that does not show by itself: note the last hash now and then, where \
            they cannot write, and look for it with --expect-hash.
            """
    )

    @Option(help: "A hash that was the last one once; the trail has to contain it.")
    var expectHash: String?

    @Argument(help: "The files of the trail, oldest first; - for standard input.")
    var files: [String]

    /// How many findings are told; what follows from a fault may be thousands.
    private static let maximumFindings = 20

    func run() throws {
        var check = AuditCheck(sha256: SHA256.hash(_:_:))
        var findings = 0
        var expected = try expectHash.map { digits in
            guard let hash = Hexadecimal.bytes(of: digits, count: 32) else {
                throw CommandError(
                    "--expect-hash is not 64 hexadecimal digits", hint: "copy it from a line of the trail")
            }
            return hash
        }
        for file in files {
            do throws(LineFileFault) {
                try LineFile.read(file) { number, text, isFinished throws(LineFileFault) in
                    let finding: AuditCheck.Finding?
                    do { finding = try check.take(text, isFinished: isFinished) } catch {
                        throw LineFileFault("\(error)")
                    }
                    if check.chain?.hash == expected { expected = nil }
                    guard let finding else { return }
                    // Left by a process that was killed.
                    if finding != .unfinished { findings += 1 }
                    if findings <= Self.maximumFindings {
                        StandardStreams.writeError(Array("\(file):\(number): \(finding.sentence)\n".utf8))
                    }
                }
            } catch {
                throw CommandError("\(file) cannot be read (\(error))", hint: "name the files of an audit trail")
            }
        }
        try report(check, findings: findings, isExpectedMissing: expected != nil)
    }

    private func report(_ check: AuditCheck, findings: Int, isExpectedMissing: Bool) throws {
        guard check.lineCount > 0 else {
            throw CommandError("there is no line in what was read", hint: "name the files of an audit trail")
        }
        if findings > 0 {
            throw CommandError(
                "\(findings) of \(check.lineCount) lines are not as they were written, or have others missing before them",
                hint:
                    "name all files of the trail, oldest first; if they are all there, somebody or a disk altered them")
        }
        if isExpectedMissing {
            throw CommandError(
                "no line has the hash that was expected", hint: "lines were removed at the end, or files are missing")
        }
        var text = "ok: \(check.lineCount) lines, and each goes on from the one before\n"
        if let beginning = check.beginning, beginning != AuditChain.beginning.hash {
            text += "goes on from: \(Hexadecimal.text(of: beginning))\n"
        }
        if let chain = check.chain {
            text += "last line: \(chain.number)\nlast hash: \(Hexadecimal.text(of: chain.hash))\n"
        }
        StandardStreams.print(text)
    }
}

extension AuditCheck.Finding {
    fileprivate var sentence: String {
        switch self {
        case .missing(let lines) where lines.lowerBound == lines.upperBound:
            "line \(lines.lowerBound) of the trail is missing before this one"
        case .missing(let lines):
            "lines \(lines.lowerBound) to \(lines.upperBound) of the trail are missing before this one"
        case .altered: "this line was altered, or the one before it"
        case .notALine: "this is no line of an audit trail"
        case .outOfOrder: "this line's number has been there already"
        case .headless: "the lines before this one are missing"
        case .newTrail: "a trail begins anew here, and nothing ties it to the one before"
        case .unfinished: "this line was cut off while it was written, and nobody got an answer for it"
        }
    }
}
