import Logging
import OfferConfiguration
import OfferCore
package import OfferHTTP
import OfferTelemetry
import SubscriberSync

/// The responder that admits each request, passes it to an endpoint, and counts and logs the outcome.
package struct Router: Responder {
    /// An endpoint and its response counters, by status.
    private struct Route: Sendable {
        let endpoint: Endpoint
        let responses: [Int: Counter]
    }

    private let routes: [String: Route]
    /// The routes whose last part varies, by the part before it.
    private let routesByFolder: [String: Route]
    private let unknownPath: [Int: Counter]
    private let unreadable: [Int: Counter]
    private let hostRule: HostRule
    private let gatekeeper: Gatekeeper
    private let metrics: ServiceMetrics
    private let refusals: RefusalLog
    private let overloadWarning: ThrottledWarning
    private let log: Logger

    init(
        _ endpoints: [Endpoint], hostRule: HostRule, gatekeeper: Gatekeeper, metrics: ServiceMetrics,
        refusals: RefusalLog, log: Logger
    ) {
        let pairs = endpoints.map { endpoint in
            (endpoint.path, Route(endpoint: endpoint, responses: metrics.responses(of: endpoint.path)))
        }
        routes = Dictionary(uniqueKeysWithValues: pairs)
        routesByFolder = Dictionary(
            uniqueKeysWithValues: pairs.filter { $0.0.hasSuffix("}") }.map { (Self.folder(of: $0.0), $0.1) })
        unknownPath = metrics.responses(of: "other")
        unreadable = metrics.responses(of: "none")
        self.hostRule = hostRule
        self.gatekeeper = gatekeeper
        self.metrics = metrics
        self.refusals = refusals
        overloadWarning = ThrottledWarning("overloaded: shedding requests with 503", log: log)
        self.log = log
    }

    /// The paths of all endpoints.
    package var paths: [String] { routes.keys.sorted() }

    private static func folder(of path: String) -> String {
        path.lastIndex(of: "/").map { String(path[...$0]) } ?? path
    }

    private func route(of path: String) -> Route? {
        routes[path] ?? (routesByFolder.isEmpty ? nil : routesByFolder[Self.folder(of: path)])
    }

    package func reply(to request: HTTPRequest, shedding: LoadShedding) -> Reply {
        let route = route(of: request.path)
        guard request.browser != nil, let route, route.endpoint.servesWebPages,
            let origin = gatekeeper.webOrigin(of: request)
        else { return reply(to: request, route, shedding: shedding) }
        return reply(to: request, route, from: origin, shedding: shedding).map { WebAccess.allow($0, to: origin) }
    }

    /// - Parameter origin: the web pages that sent the request, if they may read the answer.
    private func reply(
        to request: HTTPRequest, _ route: Route?, from origin: WebOrigin? = nil, shedding: LoadShedding
    ) -> Reply {
        let counters = route?.responses ?? unknownPath
        var admitted: Admission?
        do throws(Problem) {
            let isMisdirected = gatekeeper.isMisdirected(request, under: hostRule)
            // Health checks may send any host name. A misdirected health check gets an answer without details.
            if isMisdirected, route?.endpoint.access != .anyone { throw .misdirectedRequest }
            if origin != nil, let route, WebAccess.isPreflight(request) {
                return .now(respond(try preflight(request, route, shedding), to: request.context, counters))
            }
            let endpoint = try endpoint(for: request, route)
            if let least = endpoint.shedsLoad, shedding >= least { try shed(request, shedding) }
            let admission = try admit(request, to: endpoint, isMisdirected)
            admitted = admission
            let principal = admission.principal
            switch endpoint.handler {
            case .now(let handle):
                return makeReply(try handle(request, admission), to: principal, request.context, counters)
            case .later(let limit, let handle):
                return try answerLater(request, admission, to: endpoint, within: limit, counters) {
                    () async throws(Problem) in try await handle(request, admission)
                }
            case .either(let limit, let handle):
                switch try handle(request, admission) {
                case .now(let answer): return makeReply(answer, to: principal, request.context, counters)
                case .later(let limitOfWork, let readsStore, let work):
                    return try answerLater(
                        request, admission, to: endpoint, within: limitOfWork ?? limit, readsStore: readsStore,
                        counters,
                        work)
                }
            }
        } catch {
            if let admitted {
                gatekeeper.noteRefusal(error, of: admitted.principal, request, under: admitted.policy)
            }
            return .now(refuse(error, to: admitted?.principal, request.context, counters))
        }
    }

    private func answerLater(
        _ request: HTTPRequest, _ admission: Admission, to endpoint: Endpoint, within limit: LaneLimit,
        readsStore: Bool = true, _ counters: [Int: Counter],
        _ work: @escaping @Sendable () async throws(Problem) -> HTTPResponse
    ) throws(Problem) -> Reply {
        guard limit.enter() else { throw .overloaded }
        // Large bodies contain proofs. On the store's threads, their verification would delay everything that waits for
        // the store.
        let executor =
            readsStore && request.body.count <= HTTPRequest.maximumBodySize ? endpoint.store?.executor : nil
        return .later(
            {
                defer { limit.leave() }
                do throws(Problem) {
                    let response = try await work()
                    return { respond(response, to: request.context, counters) }
                } catch {
                    gatekeeper.noteRefusal(error, of: admission.principal, request, under: admission.policy)
                    return { refuse(error, to: admission.principal, request.context, counters) }
                }
            }, on: executor,
            timedOut: { refuse(.overloaded, to: admission.principal, request.context, counters) })
    }

    package func maximumBodySize(of path: String) -> Int {
        routes[path]?.endpoint.maximumBodySize ?? HTTPRequest.maximumBodySize
    }

    private func admit(
        _ request: HTTPRequest, to endpoint: Endpoint, _ isMisdirected: Bool
    ) throws(Problem) -> Admission {
        var admission = try gatekeeper.admit(request, to: endpoint.access)
        admission.isMisdirected = isMisdirected
        return admission
    }

    private func endpoint(for request: HTTPRequest, _ route: Route?) throws(Problem) -> Endpoint {
        guard let endpoint = route?.endpoint else {
            try gatekeeper.countUnidentified(request)
            throw .notFound
        }
        guard endpoint.methods.contains(request.method) else {
            try gatekeeper.countUnidentified(request)
            throw .methodNotAllowed(endpoint.methods).with { problem in
                guard endpoint.servesWebPages, WebAccess.isPreflight(request), let origin = request.browser?.origin
                else { return }
                metrics.answeredPreflight(.refused)
                problem.logReason = WebAccess.refusal(of: origin)
            }
        }
        return endpoint
    }

    /// Answers a preflight request, which has no token. It counts against its address like any request without one.
    private func preflight(
        _ request: HTTPRequest, _ route: Route, _ shedding: LoadShedding
    ) throws(Problem) -> HTTPResponse {
        guard shedding == .none else { throw .overloaded }
        try gatekeeper.countUnidentified(request)
        metrics.answeredPreflight(.permitted)
        return WebAccess.preflight(methods: route.endpoint.methods)
    }

    private func shed(_ request: HTTPRequest, _ shedding: LoadShedding) throws(Problem) {
        switch shedding {
        case .none: break
        case .strangers: try gatekeeper.requireCaller(request)
        case .all: throw .overloaded
        }
    }

    package func response(to fault: RequestFault, context: RequestContext) -> HTTPResponse {
        refuse(Problem(fault), to: nil, context, unreadable)
    }

    private func makeReply(
        _ answer: Endpoint.Answer, to principal: Principal, _ context: RequestContext, _ counters: [Int: Counter]
    ) -> Reply {
        guard let commit = answer.commit else { return .now(respond(answer.response, to: context, counters)) }
        return .after(commit) { isDurable in
            isDurable
                ? respond(answer.response, to: context, counters)
                : refuse(.auditUnavailable, to: principal, context, counters)
        }
    }

    private func respond(
        _ response: HTTPResponse, to context: RequestContext, _ counters: [Int: Counter]
    ) -> HTTPResponse {
        counters[response.status]?.increment()
        var response = response
        response.requestID = context.id
        return response
    }

    /// - Parameter principal: nil if the request was not admitted.
    private func refuse(
        _ problem: Problem, to principal: Principal?, _ context: RequestContext, _ counters: [Int: Counter]
    ) -> HTTPResponse {
        metrics.refused(problem.code)
        counters[problem.status]?.increment()
        if isFrequent(problem, context) {
            log.debug("request refused", metadata: context.metadata(["code": "\(problem.code.rawValue)"]))
        } else {
            refusals.requestRefused(problem, to: principal, context)
        }
        return problem.response(to: context)
    }

    /// Returns true if a problem can occur thousands of times a second, even to callers, and is logged separately and
    /// less often.
    private func isFrequent(_ problem: Problem, _ context: RequestContext) -> Bool {
        switch problem.code {
        case .rateLimited, .auditUnavailable: return true
        case .overloaded:
            overloadWarning.warn(
                context.metadata(["hint": "give the service more cores, or start another instance"]))
            return true
        default: return false
        }
    }
}
