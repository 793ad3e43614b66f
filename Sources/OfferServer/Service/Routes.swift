package import Logging

/// Which request is answered by what.
package struct Routes: Sendable {
    private let offers: OfferSigner
    private let explanations: Explanations
    private let health: Health
    private let overload: OccasionalWarning
    private let log: Logger

    package init(offers: OfferSigner, explanations: Explanations, health: Health, log: Logger) {
        self.offers = offers
        self.explanations = explanations
        self.health = health
        self.log = log
        overload = OccasionalWarning(
            "there is more to do than can be done in time, and some requests get 503", log: log)
    }

    /// Answers every request; a problem becomes its answer here.
    package func answer(_ request: IncomingRequest) -> Answer {
        do {
            var answer = try route(request)
            answer.requestID = request.id
            return answer
        } catch {
            return answer(error, to: request.context)
        }
    }

    /// The answer to a problem.
    /// - Parameter context: of the request, as far as it could be read.
    package func answer(_ problem: Problem, to context: RequestContext = RequestContext()) -> Answer {
        var metadata = context.metadata(["code": "\(problem.code.rawValue)"])
        if case .userRefused(let fault) = problem { metadata["reason"] = "\(fault.rawValue)" }
        log.log(level: isQuiet(problem, context) ? .debug : .info, "request refused", metadata: metadata)
        return problem.answer(requestID: context.id)
    }

    /// What leaves in place of `answer` where the audit trail could not be written: nothing that was signed does.
    func unrecorded(_ answer: Answer) -> Answer {
        guard answer.recordedAt != nil else { return answer }
        return self.answer(.auditUnavailable, to: RequestContext(id: answer.requestID ?? RequestID()))
    }

    /// Where there is too much to do, a line for each would be more of it.
    private func isQuiet(_ problem: Problem, _ context: RequestContext) -> Bool {
        switch problem {
        case .rateLimited: return true
        case .overloaded:
            overload.warn(
                context.metadata(["hint": "give the service more cores, or start another one beside it"]))
            return true
        default: return false
        }
    }

    private func route(_ request: IncomingRequest) throws(Problem) -> Answer {
        switch (request.path, request.method) {
        case ("/offer", "POST"), ("/offer", "GET"): try offers.answerSample(request)
        case ("/offer", _): throw .methodNotAllowed(["GET", "POST"])

        case ("/v1/promotional-offers", "POST"): try offers.answerV1(request)
        case ("/v1/introductory-offers", "POST"): try offers.answerIntroductoryOffer(request)
        case ("/v1/advanced-commerce", "POST"): try offers.answerAdvancedCommerce(request)
        case ("/v1/promotional-offers", _), ("/v1/introductory-offers", _), ("/v1/advanced-commerce", _):
            throw .methodNotAllowed(["POST"])

        case ("/v1/explanations", "POST"): try explanations.answer(request)
        case ("/v1/explanations", _): throw .methodNotAllowed(["POST"])

        case ("/health/live", "GET"), ("/health/live", "HEAD"): health.live
        case ("/health/ready", "GET"), ("/health/ready", "HEAD"): try health.ready
        case ("/openapi.json", "GET"), ("/openapi.json", "HEAD"): OpenAPI.answer
        case ("/health/live", _), ("/health/ready", _), ("/openapi.json", _): throw .methodNotAllowed(["GET", "HEAD"])

        default: throw .notFound
        }
    }
}
