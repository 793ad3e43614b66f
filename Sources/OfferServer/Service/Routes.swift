package import Logging

/// Which request is answered by what.
package struct Routes: Sendable {
    /// Where the metrics are.
    package enum Metrics: Sendable {
        /// Beside everything else, for callers with the scope.
        case beside
        /// At an address of their own, which is another one than this.
        case elsewhere
        /// Here, at their own address: for whoever reaches it, and nothing but health beside them.
        case alone
    }

    private let offers: OfferSigner
    private let explanations: Explanations
    private let health: Health
    private let metrics: ServiceMetrics
    private let metricsPage: MetricsPage
    private let metricsPlace: Metrics
    private let overload: OccasionalWarning
    private let log: Logger

    package init(
        offers: OfferSigner, explanations: Explanations, health: Health, metrics: ServiceMetrics,
        metricsPage: MetricsPage, metricsPlace: Metrics = .beside, log: Logger
    ) {
        self.offers = offers
        self.explanations = explanations
        self.health = health
        self.metrics = metrics
        self.metricsPage = metricsPage
        self.metricsPlace = metricsPlace
        self.log = log
        overload = OccasionalWarning(
            "there is more to do than can be done in time, and some requests get 503", log: log)
    }

    /// Answers every request; a problem becomes its answer here.
    package func answer(_ request: IncomingRequest) -> Answer {
        let route = Route(path: request.path)
        do {
            var answer = try answer(request, at: route)
            answer.context = request.context
            if answer.recordedAt == nil {
                metrics.answered(route, status: answer.status)
            } else {
                answer.unsettledRoute = route
            }
            return answer
        } catch {
            return refusal(error, to: request.context, at: route)
        }
    }

    /// The answer to what could not be read as a request.
    /// - Parameter context: of the request, as far as it could be read.
    package func answer(_ problem: Problem, to context: RequestContext = RequestContext()) -> Answer {
        refusal(problem, to: context, at: .none)
    }

    /// What really leaves of an answer that the audit trail had to have: nothing that was signed, where it has not.
    func settled(_ answer: Answer, isRecorded: Bool) -> Answer {
        guard let route = answer.unsettledRoute else { return answer }
        guard isRecorded else {
            return refusal(.auditUnavailable, to: answer.context ?? RequestContext(), at: route)
        }
        metrics.answered(route, status: answer.status)
        return answer
    }

    /// The answer to a problem.
    private func refusal(_ problem: Problem, to context: RequestContext, at route: Route) -> Answer {
        metrics.refused(problem.code)
        metrics.answered(route, status: problem.status)
        var metadata = context.metadata(["code": "\(problem.code.rawValue)"])
        if case .userRefused(let fault) = problem { metadata["reason"] = "\(fault.rawValue)" }
        log.log(level: isQuiet(problem, context) ? .debug : .info, "request refused", metadata: metadata)
        return problem.answer(to: context)
    }

    /// Where there is too much to do, a line for each would be more of it.
    private func isQuiet(_ problem: Problem, _ context: RequestContext) -> Bool {
        switch problem {
        // Of these there may be thousands a second, and the log has said why.
        case .rateLimited, .auditUnavailable: return true
        case .overloaded:
            overload.warn(
                context.metadata(["hint": "give the service more cores, or start another one beside it"]))
            return true
        default: return false
        }
    }

    private func answer(_ request: IncomingRequest, at route: Route) throws(Problem) -> Answer {
        guard isHere(route) else { throw .notFound }
        return switch (route, request.method) {
        case (.offer, "POST"), (.offer, "GET"): try offers.answerSample(request)
        case (.offer, _): throw .methodNotAllowed(["GET", "POST"])

        case (.promotionalOffers, "POST"): try offers.answerV1(request)
        case (.introductoryOffers, "POST"): try offers.answerIntroductoryOffer(request)
        case (.advancedCommerce, "POST"): try offers.answerAdvancedCommerce(request)
        case (.explanations, "POST"): try explanations.answer(request)
        case (.promotionalOffers, _), (.introductoryOffers, _), (.advancedCommerce, _), (.explanations, _):
            throw .methodNotAllowed(["POST"])

        case (.live, "GET"), (.live, "HEAD"): health.live
        case (.ready, "GET"), (.ready, "HEAD"): try health.ready(for: request, isOpen: metricsPlace == .alone)
        case (.metrics, "GET"), (.metrics, "HEAD"): try answerMetrics(request)
        case (.openAPI, "GET"), (.openAPI, "HEAD"): OpenAPI.answer
        case (.live, _), (.ready, _), (.metrics, _), (.openAPI, _): throw .methodNotAllowed(["GET", "HEAD"])

        case (.other, _), (.none, _): throw .notFound
        }
    }

    private func answerMetrics(_ request: IncomingRequest) throws(Problem) -> Answer {
        metricsPlace == .alone ? try metricsPage.openAnswer(request) : try metricsPage.answer(request)
    }

    private func isHere(_ route: Route) -> Bool {
        switch metricsPlace {
        case .beside: true
        case .elsewhere: route != .metrics
        case .alone: [.metrics, .live, .ready].contains(route)
        }
    }
}
