import FoundationEssentials
import Logging
import OfferCore
import OfferCrypto
import OfferServer

/// The real time and the real randomness; tests bring their own.
enum SystemSources {
    static func now() -> Timestamp {
        Timestamp(milliseconds: Int64((Date().timeIntervalSince1970 * 1000).rounded(.down)))
    }

    /// For where nobody has to say who asks.
    static let authenticator = Authenticator(sha256: SHA256.hash, now: now)

    /// - Parameter userKeys: the key sets of identity providers.
    static func authenticator(userKeys: CurrentUserKeys, log: Logger) -> Authenticator {
        let users = UserAuthenticator(keys: userKeys, hmacSHA256: HMACSHA256.code(of:under:), log: log)
        return Authenticator(sha256: SHA256.hash, now: now, users: users)
    }

    static func makeNonce() -> Nonce {
        var random = SystemRandomNumbers()
        return Nonce(using: &random)
    }
}
