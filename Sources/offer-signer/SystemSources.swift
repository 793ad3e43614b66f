import FoundationEssentials
import OfferCore

/// The real time and the real randomness; tests bring their own.
enum SystemSources {
    static func now() -> Timestamp {
        Timestamp(milliseconds: Int64((Date().timeIntervalSince1970 * 1000).rounded(.down)))
    }

    /// From the system's cryptographically secure generator: `getrandom(2)`.
    static func makeNonce() -> Nonce {
        var random = SystemRandomNumberGenerator()
        return Nonce(using: &random)
    }
}
