package import OfferCore

/// Tells who asks, by the token in `Authorization: Bearer` (RFC 6750).
package struct Authenticator: Sendable {
    private let sha256: @Sendable ([UInt8]) throws -> [UInt8]
    private let now: @Sendable () -> Timestamp
    private let users: UserAuthenticator?

    /// - Parameter users: nil where only tokens of callers are known.
    package init(
        sha256: @escaping @Sendable ([UInt8]) throws -> [UInt8], now: @escaping @Sendable () -> Timestamp,
        users: UserAuthenticator? = nil
    ) {
        self.sha256 = sha256
        self.now = now
        self.users = users
    }

    func requester(
        of request: IncomingRequest, among callers: Callers, needing scope: Caller.Scope
    ) throws(Problem) -> Requester {
        guard !callers.isEmpty else { return .anyone }
        guard let credentials = request.authorization else { throw .credentialsMissing }
        guard let token = Self.token(in: credentials) else { throw .credentialsRefused }
        let requester = try requester(bringing: token, among: callers)
        guard requester.scopes.contains(scope) else { throw .scopeMissing(scope) }
        return requester
    }

    private func requester(bringing token: [UInt8], among callers: Callers) throws(Problem) -> Requester {
        let digest: [UInt8]
        do { digest = try sha256(token) } catch { throw .signingUnavailable }
        let now = now()
        if let caller = callers.caller(tokenDigest: digest, at: now) { return .token(caller) }
        guard let users, !callers.userIssuers.isEmpty, UserToken.isMeant(token) else { throw .credentialsRefused }
        return try users.user(token, among: callers, at: now)
    }

    /// - Parameter credentials: the value of the header, such as `Bearer 6b1f…`; the scheme in any letter case.
    private static func token(in credentials: String) -> [UInt8]? {
        let utf8 = Array(credentials.utf8)
        guard utf8.prefix(7).isEqual(toLowerCase: "bearer ".utf8) else { return nil }
        let token = utf8.dropFirst(7).drop { $0 == UInt8(ascii: " ") }
        return token.isEmpty ? nil : Array(token)
    }
}
