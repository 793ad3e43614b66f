import OfferConfiguration
import OfferCore
import OfferEligibility
import OfferHTTP
import OfferIdentity
import SubscriberSync

/// The gatekeeper for all endpoints. It identifies principals, and enforces scopes and rate limits.
struct Gatekeeper: Sendable {
    private let policy: CurrentPolicy
    private let authenticator: Authenticator
    private let limits: RequestLimits
    private let recordsAddresses: Bool

    /// - Parameter recordsAddresses: true if admissions contain the client's address.
    init(policy: CurrentPolicy, authenticator: Authenticator, limits: RequestLimits, recordsAddresses: Bool) {
        self.policy = policy
        self.authenticator = authenticator
        self.limits = limits
        self.recordsAddresses = recordsAddresses
    }

    func admit(_ request: HTTPRequest, to access: Access) throws(Problem) -> Admission {
        let policy = policy.snapshot
        let principal: Principal
        switch access {
        case .anyone:
            principal = .anyone
        case .anyAddress:
            try limits.countAddress(of: request, under: policy)
            principal = .anyone
        case .scope(let scope):
            principal = try self.principal(of: request, under: policy)
            try admit(principal, scope, request, under: policy)
            request.standing?.note(principal.standing)
        }
        let address = recordsAddresses ? client(of: request, under: policy) : nil
        return Admission(principal: principal, policy: policy, context: request.context, address: address)
    }

    /// Counts a request before its scope is checked, so that no refusal is free.
    private func admit(
        _ principal: Principal, _ scope: Caller.Scope, _ request: HTTPRequest, under policy: Policy
    ) throws(Problem) {
        do throws(Problem) {
            try limits.count(principal, under: policy.limits, request.context)
            guard principal.has(scope) else { throw .scopeMissing(scope) }
        } catch {
            noteRefusal(error, of: principal, request, under: policy)
            throw error
        }
    }

    /// Counts a user's request that was forbidden or exceeded a limit against its address. Verifying a user's token is
    /// expensive, so while the address is over the limit, user requests are refused before the token is verified. A
    /// caller's refusals do not count, because a whole office can share the address, and a caller's token is cheap to
    /// check.
    func noteRefusal(_ problem: Problem, of principal: Principal, _ request: HTTPRequest, under policy: Policy) {
        guard case .user = principal, [403, 429].contains(problem.status) else { return }
        limits.chargeAddress(of: request, under: policy)
    }

    private func client(of request: HTTPRequest, under policy: Policy) -> IPAddress? {
        request.peer.flatMap { policy.proxies.client(of: $0, forwardedFor: request.forwardedFor) }
    }

    /// Returns the origin of the web page that sent a request, if its pages may read the answer.
    func webOrigin(of request: HTTPRequest) -> WebOrigin? { WebAccess.origin(of: request, under: policy.snapshot) }

    /// Returns true if the listener serves only this machine, and the request names another host or none. A web page
    /// may have sent it (DNS rebinding).
    func isMisdirected(_ request: HTTPRequest, under rule: HostRule) -> Bool {
        switch rule {
        case .any: return false
        case .thisMachineWithoutCallers where !policy.snapshot.callers.isEmpty: return false
        case .thisMachineWithoutCallers, .thisMachine:
            return !(request.host.map { LoopbackAddress.isTrustworthy(host: $0) } ?? false)
        }
    }

    /// Counts a request that is refused before its client is identified, such as one for an unknown path. Clients that
    /// authenticated earlier on the connection are not charged, except behind a proxy: its connections carry requests
    /// of many clients.
    func countUnidentified(_ request: HTTPRequest) throws(Problem) {
        let policy = policy.snapshot
        let isShared = request.peer.map { policy.proxies.isProxy($0) } ?? false
        guard isShared || request.standing?.isAuthenticated != true else { return }
        try limits.countAddress(of: request, under: policy)
    }

    /// Refuses a request without a caller's token during overload. This is cheap, unlike verifying a user's token. A
    /// wrong token counts as a guess. Otherwise, a client could test tokens without limit.
    func requireCaller(_ request: HTTPRequest) throws(Problem) {
        let policy = policy.snapshot
        let (authorization, callers) = (request.authorization, policy.callers)
        guard !callers.isEmpty, authorization != nil else { throw .overloaded }
        try limits.requireAddress(of: request, under: policy)
        if authenticator.isCaller(authorization: authorization, among: callers) { return }
        if !authenticator.mayBeUser(authorization: authorization, among: callers) {
            try limits.countAddress(of: request, under: policy)
        }
        throw .overloaded
    }

    /// Returns true if the request's principal has a scope. It serves endpoints that show some principals more than
    /// others. Unlike ``admit(_:to:)``, this function does not treat an invalid token as an error.
    func has(_ scope: Caller.Scope, _ request: HTTPRequest, under policy: Policy) -> Bool {
        guard !policy.callers.isEmpty else { return true }
        // A request without a token is not an attempt to guess one, so it does not count against a limit.
        guard request.authorization != nil else { return false }
        guard let principal = try? self.principal(of: request, under: policy) else { return false }
        if !principal.has(scope) { noteRefusal(.scopeMissing(scope), of: principal, request, under: policy) }
        return principal.has(scope)
    }

    private func principal(of request: HTTPRequest, under policy: Policy) throws(Problem) -> Principal {
        // This comes before any token is checked, because verifying a user's token is expensive. While the address is
        // over the limit, a valid token is refused like an invalid one, so guessing cannot continue.
        if !policy.callers.isEmpty { try limits.requireAddress(of: request, under: policy) }
        do throws(AuthenticationError) {
            let principal = try authenticator.principal(
                authorization: request.authorization, among: policy.callers)
            guard case .anyone = principal else { return principal }
        } catch {
            // Only unauthenticated requests count against an address, because many users can share it with someone who
            // guesses tokens. Missing keys and failed cryptography are the service's fault, so they do not count.
            switch error {
            case .missing, .refused: try limits.countAddress(of: request, under: policy)
            case .usersUnavailable, .cryptographyFailed: break
            }
            throw Problem(error)
        }
        try limits.countAddress(of: request, under: policy)
        return .anyone
    }
}

extension Principal {
    /// The standing that a connection gets from an admitted request of the principal.
    fileprivate var standing: ClientStanding.Level {
        switch self {
        case .anyone, .token: .caller
        case .user: .user
        }
    }
}
