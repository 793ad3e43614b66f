import FoundationEssentials
package import NIOCore
package import OfferCore
import OfferCrypto

/// The sources of time and randomness, which tests replace.
package struct SystemInputs: Sendable {
    /// The wall clock, which provides the timestamps of signatures.
    package var now: @Sendable () -> Timestamp
    /// The monotonic clock for rate limits.
    package var uptime: @Sendable () -> NIODeadline
    package var makeNonce: @Sendable () -> Nonce

    package init(
        now: @escaping @Sendable () -> Timestamp, uptime: @escaping @Sendable () -> NIODeadline = { .now() },
        makeNonce: @escaping @Sendable () -> Nonce
    ) {
        self.now = now
        self.uptime = uptime
        self.makeNonce = makeNonce
    }

    /// The system's clocks and its cryptographically secure random numbers.
    package static let system = SystemInputs(
        now: { Timestamp(Date()) },
        makeNonce: {
            var random = SystemRandomNumbers()
            return Nonce(using: &random)
        })
}
