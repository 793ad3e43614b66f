package import OfferCore

/// How the audit trail is kept.
package struct AuditSettings: Sendable {
    /// Its file, or a pipe or device.
    package let path: String
    /// Whether a line is on the disk before its answer leaves; else the kernel has it, which outlives the process, but not the
    /// machine.
    package let isSynced: Bool
    /// At which size the file is renamed and a new one begun; nil for never.
    package let rotatesAtBytes: Int64?
    /// What customers are told by in it: HMAC-SHA-256 under this key. nil for another one at every start.
    package let key: Secret?

    /// What there is to say where no key is set; it keeps nothing from working.
    package static let noKey = SetupProblem(
        "customers in the audit trail are told by a key that is good until the next start",
        hint: "set \(Variable.auditKey.rawValue) to find a customer's lines at any time")
}

extension AuditSettings: Equatable {
    package static func == (one: AuditSettings, other: AuditSettings) -> Bool {
        one.path == other.path && one.isSynced == other.isSynced && one.rotatesAtBytes == other.rotatesAtBytes
            && one.key?.reveal == other.key?.reveal
    }
}
