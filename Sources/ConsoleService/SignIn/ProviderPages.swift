import Logging
import OfferAudit
import OfferConfiguration
import OfferConsole
import OfferCore
import OfferHTTP
import OfferIdentity
import OfferService
import SubscriberStore
import SubscriberSync

/// Signing in at an identity provider: the way there, and the way back.
struct ProviderPages: Sendable {
    let provider: OpenIDProvider
    let roles: RoleMapping
    /// The host of the provider, for people.
    let name: String
    let store: CurrentStore
    let sessions: ConsoleSessions
    let acts: ConsoleActs
    let metrics: ServiceMetrics
    let log: Logger
    /// The requests that may wait for the provider. Anybody can send them.
    private let limit = LaneLimit(8)

    init(
        provider: OpenIDProvider, roles: RoleMapping, name: String, store: CurrentStore, sessions: ConsoleSessions,
        acts: ConsoleActs, metrics: ServiceMetrics, log: Logger
    ) {
        self.provider = provider
        self.roles = roles
        self.name = name
        self.store = store
        self.sessions = sessions
        self.acts = acts
        self.metrics = metrics
        self.log = log
    }

    static let start = PageAddress("/sign-in/provider")

    var routes: [ConsoleRoute] {
        [
            .page("/sign-in/provider", for: .anyone, [], begin),
            // The provider may add parameters, so the query is read by the protocol and not as a form.
            ConsoleRoute(
                path: "/sign-in/return", access: .anyone, fields: nil, isAct: false, handle: finish),
        ]
    }

    @Sendable private func begin(_ request: ConsoleRequest) async throws(ConsoleRefusal) -> ConsoleAnswer {
        guard limit.enter() else { throw request.unavailable }
        defer { limit.leave() }
        do throws(SignInError) {
            let (location, pending) = try await provider.begin(at: request.now)
            return .leave(location, cookies: [ConsoleCookie(name: .signIn, value: pending.cookieValue.reveal)])
        } catch { throw refusal(error, request) }
    }

    @Sendable private func finish(_ request: ConsoleRequest) async throws(ConsoleRefusal) -> ConsoleAnswer {
        let cookies = request.http.browser?.cookies ?? []
        guard let pending = sessions.pendingSignIn(in: cookies) else {
            metrics.signedIn(.provider, .refused)
            throw .signIn(.refusedByProvider)
        }
        guard limit.enter() else { throw request.unavailable }
        defer { limit.leave() }
        let person: SignedInPerson
        do throws(SignInError) {
            person = try await provider.finish(query: request.http.query ?? "", pending, at: request.now)
        } catch { throw refusal(error, request) }
        let known = Set(ConsoleRole.allCases.map(\.rawValue))
        let granted = roles.roles(of: person.roleValues).intersection(known)
        let account = ConsoleAccount(name: person.displayName, subject: person.subject, roles: Array(granted))
        guard !granted.isEmpty else {
            metrics.signedIn(.provider, .refused)
            log.warning(
                "a person without a role was not signed in to the console",
                metadata: request.http.context.metadata([
                    "subject": "\(person.subject)",
                    "hint": "give the person a group that \(Settings.consoleRoles.variable) names",
                ]))
            throw .signIn(.refusedByProvider)
        }
        let token: ConsoleToken
        do {
            try await acts.record(.signIn, by: account, request)
            token = try ConsoleToken()
            try await store.begin(
                ConsoleSession(digest: token.digest(), account: account, startedAt: request.now, seenAt: request.now))
        } catch {
            metrics.signedIn(.provider, .failed)
            throw request.unavailable
        }
        metrics.signedIn(.provider, .accepted)
        log.notice(
            "signed in to the console",
            metadata: request.http.context.metadata([
                "person": "\(account.name)", "subject": "\(person.subject)",
                "roles": "\(account.roles.joined(separator: " "))",
            ]))
        if let earlier = request.session { try? await store.endSession(earlier.digest, at: request.now) }
        return .redirect(
            PageAddress("/"),
            cookies: [
                ConsoleCookie(name: .session, value: token.text), ConsoleCookie(name: .signIn, value: ""),
            ])
    }

    private func refusal(_ error: SignInError, _ request: ConsoleRequest) -> ConsoleRefusal {
        let diagnostic = error.diagnostic
        metrics.signedIn(.provider, error.isFailure ? .failed : .refused)
        log.warning(
            "a sign-in to the console failed",
            metadata: request.http.context.metadata(["reason": "\(diagnostic.error)", "hint": "\(diagnostic.hint)"]))
        return .signIn(.refusedByProvider)
    }
}

extension SignInError {
    /// True for a technical failure of the provider or libcrypto, rather than a refusal.
    fileprivate var isFailure: Bool {
        switch self {
        case .provider, .cryptographyFailed: true
        default: false
        }
    }
}
