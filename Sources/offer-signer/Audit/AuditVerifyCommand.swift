import ArgumentParser
import OfferAudit
import OfferConfiguration
import OfferCore
import OfferCrypto
import OfferEligibility
import OfferFiles
import OfferService

/// `offer-signer audit verify`: verifies the hash chain of an audit trail.
struct AuditVerifyCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "verify",
        abstract: "Detect altered, added or removed lines in an audit trail.",
        discussion: """
            Each line contains a hash that covers the line itself and the previous line's hash. The files are sorted by \
            the numbers of their first lines, unless one of them is standard input:

              offer-signer audit verify audit.jsonl*

            Lines with an HMAC (SUBSCRIPTION_OFFERS_AUDIT_CHAIN) can only be verified with SUBSCRIPTION_OFFERS_AUDIT_KEY, \
            in the environment or in the environment file. A line without an HMAC after a line with one is a finding, \
            because anyone who can write to the files could have added it. If you switched HMACs off, add \
            --allow-unkeyed.

            Exits with status 0 if each line continues the previous one, otherwise 1. Anyone who can write to the files can \
            rewrite the end of the trail or cut it off, and the files alone do not reveal this. Regularly record the last \
            hash in a place that nobody with write access to the files can change, and check for it later with \
            --expect-hash.
            """
    )

    @Option(help: "A hash recorded earlier; a verified line of the trail must have it.")
    var expectHash: String?

    @Flag(help: "Accept lines without an HMAC after lines with one, because HMACs were switched off on purpose.")
    var allowUnkeyed = false

    @Option(Settings.environmentFile) var envFile: String?

    @Argument(help: "The files of the trail, in any order; - for standard input.")
    var files: [String]

    /// The maximum number of findings to print. A single fault can cause thousands of findings.
    private static let maximumFindings = 20

    func run() throws {
        var check = AuditCheck(key: try key(), allowsUnkeyed: allowUnkeyed)
        var findings = 0
        var expected = try expectHash.map(Self.hash)
        for file in Self.sorted(files) {
            try read(file) { number, text, isFinished in
                let finding = try check.take(text, isFinished: isFinished)
                if let hash = check.verifiedHash, hash == expected { expected = nil }
                guard let finding else { return }
                // An unfinished line is not a fault, because a killed process can leave one.
                if finding != .unfinished { findings += 1 }
                if findings <= Self.maximumFindings {
                    StandardStreams.writeError(Array("\(file):\(number): \(finding.sentence)\n".utf8))
                }
            }
        }
        try report(check, findings: findings, isExpectedMissing: expected != nil)
    }

    private static func hash(_ digits: String) throws -> [UInt8] {
        guard let hash = Hexadecimal.bytes(of: digits, count: 32) else {
            throw CommandError("--expect-hash is not 64 hexadecimal digits", hint: "copy it from a line of the trail")
        }
        return hash
    }

    /// Calls `body` for each line of a file, as ``LineFile`` does.
    private func read(_ file: String, _ body: (Int, ArraySlice<UInt8>, Bool) throws -> Void) throws {
        var isKeyMissing = false
        do throws(LineFileError) {
            try LineFile.read(file) { number, text, isFinished throws(LineFileError) in
                do { try body(number, text, isFinished) } catch {
                    isKeyMissing = error is AuditLine.KeyMissing
                    throw LineFileError("\(error)")
                }
            }
        } catch {
            guard isKeyMissing else {
                throw CommandError("\(file) cannot be read (\(error))", hint: "name the files of an audit trail")
            }
            throw CommandError(
                "\(file) contains lines with an HMAC, which cannot be verified without the audit key",
                hint: "set \(Settings.auditKey.variable), or name the environment file with --env-file")
        }
    }

    /// Returns the key that verifies lines with an HMAC; nil if none is set.
    private func key() throws -> HMACSHA256Key? {
        var flags = Configuration.Flags()
        flags[Settings.environmentFile] = envFile
        let environment = try ConfigurationReader(flags: flags).environment()
        return try Configuration.auditKey(environment: environment).map(AuditSettings.chainKey)
    }

    /// Returns the files in the order of their first lines. Files without a line come first.
    private static func sorted(_ files: [String]) -> [String] {
        guard !files.contains("-") else { return files }
        return files.map { (path: $0, number: AuditFile.firstLineNumber(path: $0) ?? 0) }
            .sorted { $0.number < $1.number }.map(\.path)
    }

    private func report(_ check: AuditCheck, findings: Int, isExpectedMissing: Bool) throws {
        guard check.lineCount > 0 else {
            throw CommandError("the files contain no lines", hint: "name the files of an audit trail")
        }
        if findings > 0 {
            throw CommandError(
                "\(findings) of \(check.lineCount) lines were altered or follow a gap",
                hint: """
                    name all files of the trail; if none is missing, a person or a faulty disk altered them
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
        if check.hasKeyedLines, let number = check.lastWithoutKey { text += "last line without an HMAC: \(number)\n" }
        if let chain = check.chain { text += chain.text }
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
        case .unkeyed:
            "this line has no HMAC, unlike the one before it: unless HMACs were switched off, someone forged it"
        case .marked: "this line marks a break: the lines before it were not those that the service had written"
        case .unfinished: "this line was cut off while being written; no response was sent for it"
        }
    }
}
