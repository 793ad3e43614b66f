import OfferCore
import Synchronization

/// Identifies one request in its response, in the log and in the audit trail.
package struct RequestID: Hashable, Sendable {
    /// 16 hexadecimal digits if generated here; otherwise the client's own plain name.
    package let text: String

    /// Generates a new identifier.
    package init() {
        // Hashed under the seed of this process, the counter does not reveal how many requests there were. Asking the system
        // for random bits would take 460 ns instead of 25.
        var hasher = Hasher()
        hasher.combine(Self.last.wrappingAdd(1, ordering: .relaxed).newValue)
        text = Hexadecimal.text(of: UInt64(truncatingIfNeeded: hasher.finalize()))
    }

    /// Accepts the identifier that a request brings. Identifiers made by proxies are short enough; a signature, or a token
    /// sent in the wrong header by mistake, is longer, and must not reach the log.
    /// - Returns: nil if it is not a plain name.
    package init?(_ text: String) {
        guard text.isPlainName else { return nil }
        self.text = text
    }

    /// Starts at a random number, so that two processes with the same seed generate different identifiers.
    private static let last = Atomic<UInt64>(.random(in: .min ... .max))
}
