import OfferCore
import Synchronization

/// The identifier of a request in its response, in the log and in the audit trail.
package struct RequestID: Hashable, Sendable {
    /// 16 hexadecimal digits if generated here; otherwise the plain name that the client sent.
    package let text: String

    /// Generates a new identifier.
    package init() {
        // The counter is hashed with the seed of this process, so the identifier does not reveal the number of
        // requests. Getting random bits from the system would take 460 ns instead of 25 ns.
        var hasher = Hasher()
        hasher.combine(Self.last.wrappingAdd(1, ordering: .relaxed).newValue)
        text = Hexadecimal.text(of: UInt64(truncatingIfNeeded: hasher.finalize()))
    }

    /// Accepts the identifier that the client sent. Identifiers from proxies are short enough. A signature, or a
    /// generated token sent in the wrong header, is too long, so it never reaches the log.
    /// - Returns: nil if the text is not a plain name.
    package init?(_ text: String) {
        guard text.isPlainName else { return nil }
        self.text = text
    }

    /// The last value of the counter. It starts at a random number, so that two processes with the same seed generate
    /// different identifiers.
    private static let last = Atomic<UInt64>(.random(in: .min ... .max))
}
