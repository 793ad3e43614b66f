import FoundationEssentials
import OfferCore
import OfferCrypto
import OfferServer

/// The real time and the real randomness; tests bring their own.
enum SystemSources {
    static func now() -> Timestamp {
        Timestamp(milliseconds: Int64((Date().timeIntervalSince1970 * 1000).rounded(.down)))
    }

    /// - Parameter userKeys: the key sets of identity providers; nil where there are none.
    static func authenticator(userKeys: CurrentUserKeys?, limiter: Limiter) -> Authenticator {
        let users = userKeys.map { UserAuthenticator(keys: $0, hmacSHA256: HMACSHA256.code(of:under:)) }
        return Authenticator(sha256: SHA256.hash, now: now, users: users, limiter: limiter)
    }

    static func makeNonce() -> Nonce {
        var random = SystemRandomNumbers()
        return Nonce(using: &random)
    }
}
