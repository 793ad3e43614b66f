import OfferCore
import Synchronization

/// Identifies one request in its response, in the log and in the audit trail.
package struct RequestID: Hashable, Sendable {
    /// 16 hexadecimal digits if generated here; otherwise the plain name that the client sent.
    package let text: String

    /// Generates a new identifier.
    package init() {
        // Hashed with the seed of this process, the counter does not reveal the number of requests. Asking the system for
        // random bits would take 460 ns instead of 25.
        var hasher = Hasher()
        hasher.combine(Self.last.wrappingAdd(1, ordering: .relaxed).newValue)
        text = Hexadecimal.text(of: UInt64(truncatingIfNeeded: hasher.finalize()))
    }

    /// Accepts the identifier that the client sent. Identifiers made by proxies are short enough. A signature, or a token sent
    /// in the wrong header by mistake, is longer, and must not reach the log.
    /// - Returns: nil if it is not a plain name.
    package init?(_ text: String) {
        guard text.isPlainName else { return nil }
        self.text = text
    }

    /// Starts at a random number, so that two processes with the same seed generate different identifiers.
    private static let last = Atomic<UInt64>(.random(in: .min ... .max))
}
