package import OfferCore

/// Tells which user asks, by the token that an identity provider gave them.
package struct UserAuthenticator: Sendable {
    private let keys: CurrentUserKeys
    private let hmacSHA256: @Sendable (_ message: [UInt8], _ key: [UInt8]) throws -> [UInt8]

    package init(
        keys: CurrentUserKeys, hmacSHA256: @escaping @Sendable (_ message: [UInt8], _ key: [UInt8]) throws -> [UInt8]
    ) {
        self.keys = keys
        self.hmacSHA256 = hmacSHA256
    }

    /// Whoever sends a bad token hears the same of every reason; the log hears which.
    func user(_ token: [UInt8], among callers: Callers, at now: Timestamp) throws(Problem) -> Requester {
        do { return try user(token, callers, now) } catch {
            throw error == .noKeys ? .usersUnavailable : .userRefused(error)
        }
    }

    /// Reading → issuer → algorithm → key → signature → claims → customer. Until the signature holds, nothing of the token
    /// is believed.
    private func user(_ token: [UInt8], _ callers: Callers, _ now: Timestamp) throws(UserTokenFault) -> Requester {
        let token = try UserToken(token)
        let issuer = try issuer(of: token, among: callers)
        let key = try key(of: token, issuer)
        guard key.verifies(token.signature, token.message) else { throw .signature }
        let claims = UserClaims(token.claims)
        try claims.require(for: issuer, at: now)
        let customer = try claims.customer(by: issuer.customer, salt: callers.usernameSalt, hmac: hmacSHA256)
        return .user(of: issuer, customer: customer)
    }

    private func issuer(of token: UserToken, among callers: Callers) throws(UserTokenFault) -> UserIssuer {
        guard case .string(let text) = token.claims["iss"],
            let issuer = callers.userIssuers.first(where: { $0.issuer == text })
        else { throw .unknownIssuer }
        return issuer
    }

    private func key(of token: UserToken, _ issuer: UserIssuer) throws(UserTokenFault) -> UserKeySet.Key {
        // The algorithm is the key's, and never a token's to choose.
        guard let algorithm = TokenAlgorithm(name: token.algorithm), issuer.algorithms.contains(algorithm) else {
            throw .algorithmNotAllowed
        }
        guard let set = keys.set(of: issuer), !set.keys.isEmpty else { throw .noKeys }
        guard let key = set.key(token.keyID, for: algorithm) else {
            keys.askAgain(for: issuer)
            throw .unknownKey
        }
        return key
    }
}
