import OfferCore
import Synchronization

/// Names one request in its answer, in the log and wherever else it leaves a trace, so that a person can find one from the
/// other.
package struct RequestID: Hashable, Sendable {
    /// 16 hexadecimal digits if it was made here; else a plain name.
    package let text: String

    /// A new one.
    package init() {
        // Under the seed of this process a hash tells nobody how many requests there were. To ask the system for random bits
        // takes 460 ns in place of 25.
        var hasher = Hasher()
        hasher.combine(Self.last.wrappingAdd(1, ordering: .relaxed).newValue)
        text = Hexadecimal.text(of: UInt64(truncatingIfNeeded: hasher.finalize()))
    }

    /// The one that a request brings. What proxies make fits in; a signature, or a token that by a slip comes in its place
    /// and would then be in the log, is longer.
    /// - Returns: nil if it is ill-formed.
    package init?(_ text: String) {
        guard text.isPlainName else { return nil }
        self.text = text
    }

    /// Begins anywhere, so that two processes with the same seed make different ones.
    private static let last = Atomic<UInt64>(.random(in: .min ... .max))
}
