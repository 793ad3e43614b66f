import OfferCore

/// An authenticator of users by their tokens from identity providers.
struct UserAuthenticator: Sendable {
    let keys: CurrentUserKeys

    func user(_ token: [UInt8], among callers: Callers, at now: Timestamp) throws(AuthenticationError) -> Principal {
        do { return try verifiedUser(token, callers, now) } catch {
            throw error == .noKeys ? .usersUnavailable : .refused(error)
        }
    }

    /// Checks a token in order: parse → issuer → algorithm → key → signature → claims → customer. Nothing in the token
    /// is trusted until its signature is verified.
    private func verifiedUser(
        _ token: [UInt8], _ callers: Callers, _ now: Timestamp
    ) throws(UserTokenFault) -> Principal {
        let token = try UserToken(token)
        let issuer = try issuer(of: token, among: callers)
        let key = try key(of: token, issuer)
        guard key.verifies(token.signature, token.message) else { throw .signature }
        let claims = UserClaims(token.claims)
        try claims.require(audience: issuer.audience, at: now)
        let customer = try claims.customer(by: issuer.customer, salt: callers.usernameSalt)
        return .user(of: issuer, customer: customer)
    }

    private func issuer(of token: UserToken, among callers: Callers) throws(UserTokenFault) -> UserIssuer {
        guard case .string(let text) = token.claims["iss"],
            let issuer = callers.userIssuers.first(where: { $0.issuer == text })
        else { throw .unknownIssuer }
        return issuer
    }

    private func key(of token: UserToken, _ issuer: UserIssuer) throws(UserTokenFault) -> UserKeySet.Key {
        // The algorithm belongs to the key; a token cannot choose it.
        guard let algorithm = TokenAlgorithm(name: token.algorithm), issuer.algorithms.contains(algorithm) else {
            throw .algorithmNotAllowed
        }
        guard let set = keys.set(of: issuer), !set.keys.isEmpty else { throw .noKeys }
        guard let key = set.key(token.keyID, for: algorithm) else {
            keys.requestRefresh(of: issuer)
            throw .unknownKey
        }
        return key
    }
}
