package import OfferCore

/// The settings of the audit trail.
package struct AuditSettings: Sendable {
    /// The method that links lines to the previous ones.
    package enum Chain: String, CaseIterable, Hashable, Sendable {
        case sha256
        /// HMAC-SHA-256 with a key that derives from the audit key.
        case hmac
    }

    /// The form in which the addresses of clients are recorded.
    package enum Addresses: String, CaseIterable, Hashable, Sendable {
        /// As HMAC-SHA-256 with a key that derives from the audit key.
        case hmac
        case plain
        case off
    }

    /// The path of a file, pipe or device.
    package let path: String
    /// True if lines are synced to disk before their responses are sent. Otherwise, they are only in the kernel's
    /// buffers by then, so they survive a crash of the process but not of the machine.
    package let isSynced: Bool
    /// The size at which the file is renamed and a new one started; nil means never.
    package let rotatesAtBytes: Int64?
    /// The key for the HMAC-SHA-256 codes that represent customers; nil means a new random key each time the service
    /// starts.
    package let key: Secret?
    /// The method that links lines. ``Chain/hmac`` requires a key.
    package let chain: Chain
    package let addresses: Addresses

    package init(
        path: String, isSynced: Bool, rotatesAtBytes: Int64?, key: Secret?, chain: Chain, addresses: Addresses
    ) {
        self.path = path
        self.isSynced = isSynced
        self.rotatesAtBytes = rotatesAtBytes
        self.key = key
        self.chain = chain
        self.addresses = addresses
    }

    /// The notice shown when no key is set. The key is optional.
    package static let noKey = Diagnostic(
        "customer codes in the audit trail change each time the service starts",
        hint: "set SUBSCRIPTION_OFFERS_AUDIT_KEY to find a customer's lines across restarts")
}
