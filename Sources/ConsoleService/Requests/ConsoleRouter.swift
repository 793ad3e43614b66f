import Logging
import OfferConfiguration
import OfferConsole
import OfferCore
package import OfferHTTP
import OfferService
import OfferTelemetry
import SubscriberStore
import SubscriberSync

/// The responder of the console's listener. It knows who asks, and refuses what the person may not do.
///
/// ```
/// host ─▶ route ─▶ own form? ─▶ session ─▶ role ─▶ fields ─▶ page or act
/// ```
package struct ConsoleRouter: Responder {
    /// The sender of a request.
    private struct Visitor: Sendable {
        /// The session that the cookie names, valid or not; nil without one.
        let session: ConsoleSession?
        let clock: ConsoleClock
        let at: Timestamp

        var validSession: ConsoleSession? { session.flatMap { $0.state(at: at) == .valid ? $0 : nil } }

        var frame: PageFrame {
            PageFrame(
                person: validSession.map { ConsolePerson($0.account) }, clock: clock, version: OfferSignerVersion.text)
        }
    }

    struct Key: Hashable {
        let path: String
        let isAct: Bool
    }

    let routes: [Key: ConsoleRoute]
    private let counters: [String: [Int: Counter]]
    private let origin: ConsoleOrigin
    private let sessions: ConsoleSessions
    private let policy: CurrentPolicy
    private let limits: RequestLimits
    private let store: CurrentStore
    private let now: @Sendable () -> Timestamp
    private let log: Logger
    private let limit = LaneLimit(64)

    private static let statuses = [200, 303, 400, 403, 404, 405, 421, 429, 500, 503]
    private static let other = "console other"

    init(
        _ routes: [ConsoleRoute], of application: Application, origin: ConsoleOrigin, sessions: ConsoleSessions
    ) {
        self.routes = Dictionary(
            uniqueKeysWithValues: routes.map { (Key(path: $0.path.description, isAct: $0.isAct), $0) })
        let labels = Set(routes.map { "console \($0.path)" } + [Self.other])
        counters = Dictionary(
            uniqueKeysWithValues: labels.map {
                ($0, application.metrics.responses(of: $0, statuses: Self.statuses))
            })
        self.origin = origin
        self.sessions = sessions
        policy = application.policy
        limits = application.limits
        store = application.store
        now = application.now
        log = application.log
    }

    package func maximumBodySize(of path: String) -> Int {
        routes[Key(path: path, isAct: true)]?.maximumUploadBytes ?? FormReader.maximumBytes
    }

    package func response(to fault: RequestFault, context: RequestContext) -> HTTPResponse {
        let problem: ErrorView.Problem =
            switch fault {
            case .bodyTooLarge: .badRequest("The form is too large.")
            case .timedOut: .badRequest("The request did not arrive in time.")
            default: .badRequest("The request is not valid HTTP.")
            }
        return page(problem, Self.other, context)
    }

    package func reply(to request: HTTPRequest, shedding: LoadShedding) -> Reply {
        let (context, path) = (request.context, request.path)
        if let file = ConsoleFile.all[path], ["GET", "HEAD"].contains(request.method) {
            var response = file.response(to: request)
            response.requestID = context.id
            return .now(response)
        }
        guard isOwnHost(request) else {
            return .now(page(.otherHost, Self.other, context))
        }
        let isAct = request.method == "POST"
        guard let route = routes[Key(path: path, isAct: isAct)] else {
            let other = routes[Key(path: path, isAct: !isAct)]
            return answerLater(request, Self.other) { _ async throws(ConsoleRefusal) in
                throw .problem(other == nil ? .notFound : .wrongMethod)
            }
        }
        guard isAct || ["GET", "HEAD"].contains(request.method) else {
            return .now(page(.wrongMethod, Self.label(route), context))
        }
        if isAct, !isOwnForm(request) {
            log.warning(
                "form of another site refused",
                metadata: context.metadata(["path": "\(route.path)", "origin": "\(request.browser?.origin ?? "-")"]))
            return .now(page(.otherOrigin, Self.label(route), context))
        }
        guard shedding < .all else {
            return .now(
                page(.unavailable(requestID: context.id.text), Self.label(route), context))
        }
        return answerLater(request, Self.label(route)) { visitor async throws(ConsoleRefusal) in
            try self.admit(visitor, to: route)
            let values = try route.values(of: request)
            return try await route.handle(
                ConsoleRequest(
                    http: request, policy: self.policy.snapshot, session: visitor.validSession,
                    clock: visitor.clock, now: visitor.at, values: values, version: OfferSignerVersion.text))
        }
    }

    // MARK: Checks

    /// Returns true if the request names the console's host. A page of another site may have sent it otherwise (DNS
    /// rebinding).
    private func isOwnHost(_ request: HTTPRequest) -> Bool {
        guard let host = request.host?.lowercased() else { return false }
        if host == origin.host { return true }
        return [origin.host, host].allSatisfy { host in
            LoopbackAddress.isLoopback(host.hasPrefix("[") ? String(host.dropFirst().dropLast()) : host)
        }
    }

    /// Returns true if a page of the console sent the form. A browser that does not say where a form comes from says its
    /// origin.
    private func isOwnForm(_ request: HTTPRequest) -> Bool {
        if let site = request.browser?.fetchSite { return site == "same-origin" }
        return request.browser?.origin == origin.text
    }

    /// Reads the cookies of a request, and the session that they name.
    private func visitor(of request: HTTPRequest) async throws(ConsoleRefusal) -> Visitor {
        let (cookies, time) = (request.browser?.cookies ?? [], now())
        let session: ConsoleSession?
        do { session = try await sessions.session(of: sessions.token(in: cookies), at: time) } catch {
            throw .problem(.unavailable(requestID: request.id.text))
        }
        let visitor = Visitor(session: session, clock: sessions.clock(in: cookies), at: time)
        if visitor.validSession == nil { try countStranger(request) }
        return visitor
    }

    /// Limits requests without a valid session by their address.
    private func countStranger(_ request: HTTPRequest) throws(ConsoleRefusal) {
        do throws(OfferService.Problem) { try limits.countAddress(of: request, under: policy.snapshot) } catch {
            throw .problem(.tooManyRequests(retryAfterSeconds: error.retryAfter ?? 60))
        }
    }

    private func admit(
        _ visitor: Visitor, to route: ConsoleRoute
    ) throws(ConsoleRefusal) {
        guard case .roles(let roles) = route.access else { return }
        guard let session = visitor.session else { throw .signIn(nil) }
        switch session.state(at: visitor.at) {
        case .valid: break
        case .expired: throw .signIn(.expired)
        case .ended: throw .signIn(.ended)
        }
        guard session.account.consoleRoles.contains(where: roles.contains) else { throw .problem(.forbidden(roles)) }
    }

    // MARK: Answers

    private func answerLater(
        _ request: HTTPRequest, _ label: String,
        _ work: @escaping @Sendable (Visitor) async throws(ConsoleRefusal) -> ConsoleAnswer
    ) -> Reply {
        let context = request.context
        let overloaded = ErrorView.Problem.unavailable(requestID: context.id.text)
        guard limit.enter() else { return .now(page(overloaded, label, context)) }
        return .later(
            {
                defer { limit.leave() }
                var visitor: Visitor?
                let answer: HTTPResponse
                do throws(ConsoleRefusal) {
                    let known = try await self.visitor(of: request)
                    visitor = known
                    answer = response(to: try await work(known))
                } catch {
                    answer = response(to: error, visitor)
                }
                return { counted(answer, label, context) }
            }, on: store.executor,
            timedOut: { page(overloaded, label, context) })
    }

    private func response(to answer: ConsoleAnswer) -> HTTPResponse {
        switch answer {
        case .page(let html, let status, let refresh):
            var response = HTTPResponse(status: status, mediaType: .html, body: html.utf8)
            response.browserHeaders = securityHeaders
            if let refresh { response.browserHeaders.append(HTTPResponse.Header("Refresh", String(refresh))) }
            return response
        case .csv(let text, let name):
            var response = HTTPResponse(mediaType: .csv, body: Array(text.utf8))
            response.browserHeaders =
                securityHeaders + [
                    HTTPResponse.Header("Content-Disposition", "attachment; filename=\"\(name)\"")
                ]
            return response
        case .redirect(let address, let cookies):
            return redirect(to: address.text, cookies)
        case .leave(let location, let cookies): return redirect(to: location, cookies)
        }
    }

    private func redirect(to location: String, _ cookies: [ConsoleCookie]) -> HTTPResponse {
        var response = HTTPResponse(status: 303, mediaType: .html, body: [])
        response.browserHeaders =
            securityHeaders + [HTTPResponse.Header("Location", location)]
            + cookies.map { HTTPResponse.Header("Set-Cookie", sessions.header($0)) }
        return response
    }

    /// - Parameter visitor: nil if the session could not be read.
    private func response(to refusal: ConsoleRefusal, _ visitor: Visitor?) -> HTTPResponse {
        switch refusal {
        case .signIn(let reason):
            var address = PageAddress("/sign-in")
            if let reason { address = address.with("reason", reason.rawValue) }
            return response(to: .redirect(address))
        case .problem(let problem):
            return errorResponse(problem, visitor?.frame ?? Self.bareFrame)
        }
    }

    private func errorResponse(_ problem: ErrorView.Problem, _ frame: PageFrame) -> HTTPResponse {
        let view = ErrorView(frame: frame, problem)
        var response = response(to: .page(view.html, status: view.status))
        switch problem {
        case .tooManyRequests(let seconds): response.retryAfter = seconds
        case .wrongMethod: response.allow = ["GET", "HEAD", "POST"]
        default: break
        }
        return response
    }

    /// Returns the page of a problem for a person who may not be signed in.
    private func page(_ problem: ErrorView.Problem, _ label: String, _ context: RequestContext) -> HTTPResponse {
        counted(errorResponse(problem, Self.bareFrame), label, context)
    }

    private func counted(_ response: HTTPResponse, _ label: String, _ context: RequestContext) -> HTTPResponse {
        counters[label]?[response.status]?.increment()
        var response = response
        response.requestID = context.id
        return response
    }

    private static let bareFrame = PageFrame(person: nil, clock: .utc, version: OfferSignerVersion.text)

    private static func label(_ route: ConsoleRoute) -> String { "console \(route.path)" }

    /// The headers of every page. A browser that has reached the console over TLS never tries it without TLS for a year.
    private var securityHeaders: [HTTPResponse.Header] {
        origin.isSecure ? Self.securityHeaders + [Self.strictTransport] : Self.securityHeaders
    }

    /// Only for the host itself: the setting says nothing about hosts below it.
    private static let strictTransport = HTTPResponse.Header("Strict-Transport-Security", "max-age=31536000")

    /// No script runs, nothing is fetched from elsewhere, and no other site can show a page in a frame.
    private static let securityHeaders = [
        HTTPResponse.Header(
            "Content-Security-Policy",
            "default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self'; base-uri 'none'; "
                + "frame-ancestors 'none'"),
        HTTPResponse.Header("X-Content-Type-Options", "nosniff"),
        HTTPResponse.Header("Referrer-Policy", "no-referrer"),
        HTTPResponse.Header("Cross-Origin-Opener-Policy", "same-origin"),
        HTTPResponse.Header("Cross-Origin-Resource-Policy", "same-origin"),
    ]
}
