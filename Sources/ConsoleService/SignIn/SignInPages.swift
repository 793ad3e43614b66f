import Logging
import OfferAudit
import OfferConsole
import OfferCore
import OfferHTTP
import OfferService
import SubscriberStore
import SubscriberSync

/// Signing in with a link, signing out, and the choice of the offset from UTC.
struct SignInPages: Sendable {
    let store: CurrentStore
    let acts: ConsoleActs
    /// The pages to which a form can return.
    let pages: [ConsoleRoute]
    /// nil if people sign in only with links.
    let provider: ProviderPages?
    let metrics: ServiceMetrics
    let log: Logger

    var routes: [ConsoleRoute] {
        [
            .page("/", for: .anyone, [], start),
            .page("/sign-in", for: .anyone, [FormReader.Field("reason", maximumBytes: 32)], signInPage),
            .page("/sign-in/link", for: .anyone, [Self.token], linkPage),
            .act("/sign-in/link", for: .anyone, [Self.token], useLink),
            .act("/sign-out", for: .anyone, [], signOut),
            .act(
                "/clock", for: .anyone,
                [FormReader.Field("offset", maximumBytes: 8), FormReader.Field("return", maximumBytes: 4096)],
                setClock),
        ] + (provider?.routes ?? [])
    }

    private static let token = FormReader.Field("token", maximumBytes: 64)

    /// `GET /`: leads to the first section that the person may open.
    @Sendable private func start(_ request: ConsoleRequest) async throws(ConsoleRefusal) -> ConsoleAnswer {
        guard request.session != nil else { throw .signIn(nil) }
        guard let first = ConsoleSection.allCases.first(where: request.hasRole) else {
            throw .problem(.forbidden(ConsoleRole.allCases))
        }
        return .redirect(first.address)
    }

    @Sendable private func signInPage(_ request: ConsoleRequest) async throws(ConsoleRefusal) -> ConsoleAnswer {
        let reason = request.values["reason"].flatMap(SignInView.Reason.init)
        let provider = provider.map { SignInView.Provider(name: $0.name, start: ProviderPages.start) }
        return .page(SignInView(frame: request.frame(), reason: reason, provider: provider).html)
    }

    /// `GET /sign-in/link`: a page with a button. Opening it does not use up the link, because mail scanners open links.
    @Sendable private func linkPage(_ request: ConsoleRequest) async throws(ConsoleRefusal) -> ConsoleAnswer {
        let (token, link) = try await requestedLink(request)
        return .page(SignInLinkView(frame: request.frame(), token: token.text, name: link.account.name).html)
    }

    /// `POST /sign-in/link`: begins a session with a new token.
    @Sendable private func useLink(_ request: ConsoleRequest) async throws(ConsoleRefusal) -> ConsoleAnswer {
        let (token, link) = try await requestedLink(request)
        let (new, session): (ConsoleToken, ConsoleSession?)
        do {
            try await acts.record(.signIn, by: link.account, request)
            new = try ConsoleToken()
            session = try await store.signIn(with: token.digest(), as: new.digest(), at: request.now)
        } catch {
            metrics.signedIn(.link, .failed)
            throw request.unavailable
        }
        guard session != nil else {
            metrics.signedIn(.link, .refused)
            acts.noteRefusal("link_used", of: .signIn, by: link.account, request)
            throw .signIn(.badLink)
        }
        metrics.signedIn(.link, .accepted)
        // The browser forgets the earlier session. It must not stay valid elsewhere.
        if let earlier = request.session { try? await store.endSession(earlier.digest, at: request.now) }
        log.notice(
            "signed in to the console",
            metadata: request.http.context.metadata([
                "person": "\(link.account.name)", "roles": "\(link.account.roles.joined(separator: " "))",
            ]))
        return .redirect(PageAddress("/"), cookies: [ConsoleCookie(name: .session, value: new.text)])
    }

    /// Returns the link that the request names.
    private func requestedLink(
        _ request: ConsoleRequest
    ) async throws(ConsoleRefusal) -> (token: ConsoleToken, link: SignInLink) {
        guard let token = request.values["token"].flatMap(ConsoleToken.init) else { throw refused() }
        let link: SignInLink?
        do { link = try await store.signInLink(token.digest(), at: request.now) } catch {
            metrics.signedIn(.link, .failed)
            throw request.unavailable
        }
        guard let link else { throw refused() }
        return (token, link)
    }

    private func refused() -> ConsoleRefusal {
        metrics.signedIn(.link, .refused)
        return .signIn(.badLink)
    }

    @Sendable private func signOut(_ request: ConsoleRequest) async throws(ConsoleRefusal) -> ConsoleAnswer {
        if let session = request.session {
            // This always works, even if the act cannot be recorded.
            do { try await store.endSession(session.digest, at: request.now) } catch { throw request.unavailable }
            try? await acts.record(.signOut, by: session.account, request)
        }
        return .redirect(
            PageAddress("/sign-in").with("reason", SignInView.Reason.signedOut.rawValue),
            cookies: [ConsoleCookie(name: .session, value: "")])
    }

    /// `POST /clock`: keeps the chosen offset in a cookie, and returns to the page.
    @Sendable private func setClock(_ request: ConsoleRequest) async throws(ConsoleRefusal) -> ConsoleAnswer {
        guard let minutes = request.values["offset"].flatMap({ Int($0) }),
            let clock = ConsoleClock(offsetMinutes: minutes)
        else { throw .problem(.badRequest("The field offset is not an offset that is in use.")) }
        return .redirect(
            returnAddress(request.values["return"] ?? ""),
            cookies: [ConsoleCookie(name: .clock, value: String(clock.offsetMinutes))])
    }

    /// Returns the page that a text names; the start page if the console has no such page. The text never leads to
    /// another site.
    private func returnAddress(_ text: String) -> PageAddress {
        let parts = text.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        guard let path = parts.first, let route = pages.first(where: { !$0.isAct && $0.path.description == path }),
            let fields = route.fields,
            let values = try? FormReader.read((parts.count > 1 ? parts[1] : "").utf8, fields: fields)
        else { return PageAddress("/") }
        return fields.reduce(PageAddress(route.path)) { address, field in
            values[field.name].map { address.with(field.name, $0) } ?? address
        }
    }
}
