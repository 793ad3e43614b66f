import ArgumentParser
import OfferAudit
import OfferCore
import OfferCrypto
import OfferFiles

/// `offer-signer audit verify`: verifies the hash chain of an audit trail.
struct AuditVerifyCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "verify",
        abstract: "Detect altered, added or removed lines in an audit trail.",
        discussion: """
            Each line contains a hash that covers the line itself and the previous line's hash. List the files of a trail \
            oldest first. The names that SUBSCRIPTION_OFFERS_AUDIT_ROTATE_MB gives rotated files sort in this order:

              offer-signer audit verify audit.jsonl.* audit.jsonl

            Exits with status 0 if each line continues the previous one, otherwise 1. Anyone who can write to the files can \
            rewrite the end of the trail or cut it off, and the files alone do not reveal this. Regularly record the last \
            hash in a place that nobody with write access to the files can change, and check for it later with \
            --expect-hash.
            """
    )

    @Option(help: "A hash recorded earlier; the trail must contain it.")
    var expectHash: String?

    @Argument(help: "The files of the trail, oldest first; - for standard input.")
    var files: [String]

    /// The maximum number of findings to print. A single fault can cause thousands.
    private static let maximumFindings = 20

    func run() throws {
        var check = AuditCheck()
        var findings = 0
        var expected = try expectHash.map { digits in
            guard let hash = Hexadecimal.bytes(of: digits, count: 32) else {
                throw CommandError(
                    "--expect-hash is not 64 hexadecimal digits", hint: "copy it from a line of the trail")
            }
            return hash
        }
        for file in files {
            do throws(LineFileError) {
                try LineFile.read(file) { number, text, isFinished throws(LineFileError) in
                    let finding: AuditCheck.Finding?
                    do { finding = try check.take(text, isFinished: isFinished) } catch {
                        throw LineFileError("\(error)")
                    }
                    if check.chain?.hash == expected { expected = nil }
                    guard let finding else { return }
                    // An unfinished line is not a fault, because a killed process can leave one.
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
            throw CommandError("the files contain no lines", hint: "name the files of an audit trail")
        }
        if findings > 0 {
            throw CommandError(
                "\(findings) of \(check.lineCount) lines were altered or follow a gap",
                hint: """
                    name all files of the trail, oldest first; if none is missing, a person or a faulty disk altered \
                    them
                    """)
        }
        if isExpectedMissing {
            throw CommandError(
                "no line has the expected hash", hint: "lines were removed from the end, or files are missing")
        }
        var text = "ok: \(check.lineCount) lines, each continues the previous one\n"
        if let beginning = check.beginning, beginning != AuditChain.beginning.hash {
            text += "continues from: \(Hexadecimal.text(of: beginning))\n"
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
        case .altered: "this line or the one before it was altered"
        case .notALine: "this is not a line of an audit trail"
        case .outOfOrder: "this line's number is a duplicate"
        case .headless: "the lines before this one are missing"
        case .newTrail: "a new trail begins here, with no link to the previous one"
        case .unfinished: "this line was cut off while being written; no response was sent for it"
        }
    }
}
