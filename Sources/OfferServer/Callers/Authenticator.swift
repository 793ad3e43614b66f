package import OfferCore

/// Tells who asks, by the token in `Authorization: Bearer` (RFC 6750).
package struct Authenticator: Sendable {
    private let sha256: @Sendable ([UInt8]) throws -> [UInt8]
    private let now: @Sendable () -> Timestamp
    private let users: UserAuthenticator?
    private let limiter: Limiter

    /// - Parameters:
    ///   - users: nil where only tokens of callers are known.
    ///   - limiter: how often an address may bring no good token.
    package init(
        sha256: @escaping @Sendable ([UInt8]) throws -> [UInt8], now: @escaping @Sendable () -> Timestamp,
        users: UserAuthenticator? = nil, limiter: Limiter
    ) {
        self.sha256 = sha256
        self.now = now
        self.users = users
        self.limiter = limiter
    }

    /// - Parameter setup: says who there is.
    func requester(
        of request: IncomingRequest, under setup: Setup, needing scope: Caller.Scope
    ) throws(Problem) -> Requester {
        let requester = try requester(of: request, under: setup)
        guard requester.has(scope) else { throw .scopeMissing(scope) }
        return requester
    }

    private func requester(of request: IncomingRequest, under setup: Setup) throws(Problem) -> Requester {
        let callers = setup.callers
        guard !callers.isEmpty else {
            try limiter.admitAddress(of: request, under: setup)
            return .anyone
        }
        let token = request.authorization.flatMap(Self.token)
        let now = now()
        if let token, let caller = try callers.caller(tokenDigest: digest(of: token), at: now) { return .token(caller) }
        do { return try user(by: token, of: request, callers, now) } catch {
            // Only what proves nothing is held against an address: many users may be behind one with somebody who tries
            // out tokens. That keys are not there is nobody's fault but ours.
            if error != .usersUnavailable { try limiter.admitAddress(of: request, under: setup) }
            throw error
        }
    }

    private func user(
        by token: [UInt8]?, of request: IncomingRequest, _ callers: Callers, _ now: Timestamp
    ) throws(Problem) -> Requester {
        guard request.authorization != nil else { throw .credentialsMissing }
        guard let token, let users, !callers.userIssuers.isEmpty, UserToken.isMeant(token) else {
            throw .credentialsRefused
        }
        return try users.user(token, among: callers, at: now)
    }

    private func digest(of token: [UInt8]) throws(Problem) -> [UInt8] {
        do { return try sha256(token) } catch { throw .signingUnavailable }
    }

    /// - Parameter credentials: the value of the header, such as `Bearer 6b1f…`; the scheme in any letter case.
    private static func token(in credentials: String) -> [UInt8]? {
        let utf8 = Array(credentials.utf8)
        guard utf8.prefix(7).isEqual(toLowerCase: "bearer ".utf8) else { return nil }
        let token = utf8.dropFirst(7).drop { $0 == UInt8(ascii: " ") }
        return token.isEmpty ? nil : Array(token)
    }
}
