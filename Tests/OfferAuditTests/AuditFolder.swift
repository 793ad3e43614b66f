import OfferAudit
import OfferCore
import OfferCrypto
import TestSupport

/// Tests of the audit trail `audit.jsonl` in a temporary folder.
protocol AuditFolder {
    var folder: TemporaryFolder { get }
}

extension AuditFolder {
    var path: String { folder.path + "/audit.jsonl" }

    /// - Parameter key: what gives each line an HMAC; nil for hashes.
    func file(at path: String? = nil, rotatesAtBytes: Int64? = nil, key: HMACSHA256Key? = nil) -> AuditFile {
        AuditFile(
            path: path ?? self.path, isSynced: false, rotatesAtBytes: rotatesAtBytes,
            seal: key.map { .hmac($0) } ?? .hash, key: key, now: { Timestamp(milliseconds: 1_767_225_600_000) })
    }

    /// Appends one line for each word.
    func append(_ words: String..., to file: AuditFile) throws {
        try file.append { text, chain in
            for word in words { try chain.append(to: &text) { $0.member("text", word) } }
        }
    }
}
