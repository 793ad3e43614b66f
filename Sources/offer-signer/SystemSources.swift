import FoundationEssentials
import OfferCore
import OfferCrypto
import OfferServer

/// The real time and the real randomness; tests bring their own.
enum SystemSources {
    static func now() -> Timestamp {
        Timestamp(milliseconds: Int64((Date().timeIntervalSince1970 * 1000).rounded(.down)))
    }

    static let authenticator = Authenticator(sha256: SHA256.hash, now: now)

    static func makeNonce() -> Nonce {
        var random = SystemRandomNumbers()
        return Nonce(using: &random)
    }
}
