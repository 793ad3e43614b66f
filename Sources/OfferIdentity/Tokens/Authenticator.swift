package import OfferCore
import OfferCrypto

/// An authenticator of requests by the token in `Authorization: Bearer` (RFC 6750).
package struct Authenticator: Sendable {
    private let now: @Sendable () -> Timestamp
    private let users: UserAuthenticator?

    /// - Parameter userKeys: the key sets of identity providers; nil if only caller tokens are accepted.
    package init(userKeys: CurrentUserKeys?, now: @escaping @Sendable () -> Timestamp) {
        self.now = now
        users = userKeys.map { UserAuthenticator(keys: $0) }
    }

    /// - Parameters:
    ///   - authorization: the value of the `Authorization` header.
    ///   - callers: the callers in force. If there are none, anyone may make requests.
    package func principal(
        authorization: String?, among callers: Callers
    ) throws(AuthenticationError) -> Principal {
        guard !callers.isEmpty else { return .anyone }
        let token = authorization.flatMap(Self.token)
        // The cost of hashing grows with the length of the token.
        if let token, token.count > UserToken.maximumSize { throw .refused(.tooLarge) }
        let now = now()
        if let token, let caller = try callers.caller(tokenDigest: digest(of: token), at: now) { return .token(caller) }
        guard authorization != nil else { throw .missing }
        guard let token, let users, !callers.userIssuers.isEmpty, UserToken.looksLikeJWT(token) else {
            throw .refused(nil)
        }
        return try users.user(token, among: callers, at: now)
    }

    /// Returns true if the header contains a valid caller token.
    package func isCaller(authorization: String?, among callers: Callers) -> Bool {
        guard let token = authorization.flatMap(Self.token), token.count <= UserToken.maximumSize,
            let digest = try? digest(of: token)
        else { return false }
        return callers.caller(tokenDigest: digest, at: now()) != nil
    }

    /// Returns true if the header may contain a user's token. Only verification can show this for certain. A caller's
    /// token could look the same, but no one chooses a token that begins like an encoded JSON object.
    package func mayBeUser(authorization: String?, among callers: Callers) -> Bool {
        guard !callers.userIssuers.isEmpty, let token = authorization.flatMap(Self.token) else { return false }
        return token.count <= UserToken.maximumSize && token.starts(with: Array("eyJ".utf8))
            && UserToken.looksLikeJWT(token)
    }

    private func digest(of token: [UInt8]) throws(AuthenticationError) -> [UInt8] {
        do { return try SHA256.hash(token) } catch { throw .cryptographyFailed }
    }

    /// - Parameter credentials: the value of the header, such as `Bearer 6b1f…`; the scheme is case-insensitive.
    private static func token(in credentials: String) -> [UInt8]? {
        let utf8 = Array(credentials.utf8)
        guard utf8.prefix(7).isEqual(toLowerCase: "bearer ".utf8) else { return nil }
        let token = utf8.dropFirst(7).drop { $0 == UInt8(ascii: " ") }
        return token.isEmpty ? nil : Array(token)
    }
}

/// The reason that authentication failed.
package enum AuthenticationError: Error, Hashable {
    /// No credentials were sent.
    case missing
    /// The token is invalid or expired. For a user's token, the value is the reason, which only the log may contain.
    case refused(UserTokenFault?)
    /// No keys are available to verify users' tokens.
    case usersUnavailable
    /// libcrypto failed.
    case cryptographyFailed
}
