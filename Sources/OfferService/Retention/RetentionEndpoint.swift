import AppStoreData
import Logging
import NIOCore
import OfferConfiguration
import OfferCore
import OfferEligibility
import OfferHTTP
import SubscriberSync

/// `POST /v1/retention-messages`: chooses the message that the App Store shows to a customer who is about to cancel.
///
/// ```
/// read ─▶ verify ─▶ known answer? ─▶ facts ─▶ decide ─▶ reserve ─▶ sign ─▶ audit ─▶ answer
///                        └── after the deadline: the last case, if it needs no facts ──▲
/// ```
///
/// The route is public and takes no token: the signature of a request authenticates its sender. The App Store waits 700
/// ms. After any status except 200, it falls back to other messages.
struct RetentionEndpoint: Sendable {
    private let decider: RetentionDecider
    private let reader: RetentionRequestReader
    private let limits: RequestLimits
    private let metrics: ServiceMetrics
    private let health: RetentionHealth
    private let log: Logger
    /// The time limit from the first byte of a request to its answer.
    private let deadline: TimeAmount
    private let answers: RetentionAnswers
    private let work: DetachedWork
    private let limit = LaneLimit(maximumRequests)

    /// The maximum number of requests that are being verified or are waiting. Apple's performance test causes at most a
    /// few dozen.
    private static let maximumRequests = 512

    init(
        decider: RetentionDecider, uptime: @escaping @Sendable () -> NIODeadline, reader: RetentionRequestReader,
        limits: RequestLimits, work: DetachedWork,
        deadline: Duration, metrics: ServiceMetrics, health: RetentionHealth, log: Logger
    ) {
        self.decider = decider
        self.reader = reader
        self.limits = limits
        self.work = work
        self.deadline = TimeAmount(deadline)
        self.metrics = metrics
        self.health = health
        self.log = log
        answers = RetentionAnswers(uptime: uptime)
    }

    var endpoint: Endpoint {
        Endpoint(
            path: "/v1/retention-messages", methods: ["POST"], access: .anyone, shedsLoad: .all,
            handler: .later(limit: limit) { request, admission async throws(Problem) in
                try await receive(request, admission)
            })
    }

    private func receive(_ request: HTTPRequest, _ admission: Admission) async throws(Problem) -> HTTPResponse {
        try limits.requireNotifier(request, under: admission.policy)
        let verified = try read(request, under: admission.policy)
        // If memory or connections run short, this connection is closed only after those of strangers.
        request.standing?.note(.user)
        let (answer, isRepeated) = await answers.answer(
            verified.key, by: request.received + deadline,
            otherwise: { missDeadline(verified, admission.context) },
            { claim in begin(verified, admission, claim) })
        metrics.answeredRetention(after: .now() - request.received)
        if isRepeated {
            metrics.repeatedRetention()
        } else {
            health.note(isDecision: answer.reason.isDecision)
            metrics.decidedRetention(answer.kind, by: answer.rule, answer.reason.rawValue, of: verified.app)
            record(answer, verified, admission.context)
        }
        switch answer.content {
        case .shown(_, _, let body): return HTTPResponse(body: body)
        case .nothing: throw .noRetentionMessage
        case .unavailable: throw .retentionMessageUnavailable
        }
    }

    private func read(_ request: HTTPRequest, under policy: Policy) throws(Problem) -> VerifiedRetentionRequest {
        do throws(Problem) {
            guard request.query == nil else { throw .queryNotExpected }
            guard request.contentEncoding == nil else { throw .encodedContent }
            let text: [UInt8]
            do throws(NotificationBodyError) { text = try NotificationBody.signedPayload(in: request.body) } catch {
                throw Problem(error)
            }
            do throws(DataRefusal) { return try reader.read(text, under: policy) } catch {
                throw .retentionRequestRefused(error)
            }
        } catch {
            limits.chargeNotifier(request, under: policy)
            throw error
        }
    }

    private func begin(_ verified: VerifiedRetentionRequest, _ admission: Admission, _ claim: RetentionAnswers.Claim) {
        let isStarted = work.start {
            if let answer = await decider.answer(verified, admission, claim) {
                note(answer, verified, admission.context)
            }
        }
        guard !isStarted else { return }
        let answer = RetentionAnswer(without: .overload, verified)
        if claim.settle(answer) { note(answer, verified, admission.context) }
    }

    private func missDeadline(_ verified: VerifiedRetentionRequest, _ context: RequestContext) -> RetentionAnswer {
        metrics.missedRetentionDeadline()
        let answer = RetentionAnswer(without: .deadline, verified)
        note(answer, verified, context)
        return answer
    }

    /// Records the answer after it is given, because the App Store does not wait. Without a database, or if the service
    /// stops at this moment, the record is lost.
    private func record(_ answer: RetentionAnswer, _ verified: VerifiedRetentionRequest, _ context: RequestContext) {
        let isStarted = work.start(isRecord: true) {
            do {
                try await decider.record(answer, to: verified)
                metrics.recordedRetention(.kept)
            } catch { noteUnrecorded("\(error)", context) }
        }
        if !isStarted { noteUnrecorded("too many answers are waiting to be recorded", context) }
    }

    private func noteUnrecorded(_ reason: String, _ context: RequestContext) {
        metrics.recordedRetention(.lost)
        log.warning(
            "retention answer not recorded for reports", metadata: context.metadata(["reason": "\(reason)"]))
    }

    /// Logs a decision without the customer. `requestIdentifier` is the App Store's identifier of the request.
    private func note(_ answer: RetentionAnswer, _ verified: VerifiedRetentionRequest, _ context: RequestContext) {
        var metadata: Logger.Metadata = [
            "app": "\(verified.app.bundleID.text)", "environment": "\(verified.app.environment.rawValue.printable)",
            "answer": "\(answer.kind)", "reason": "\(answer.reason.rawValue)",
            "requestIdentifier": "\(verified.requestIdentifier)",
        ]
        if let rule = answer.rule { metadata["rule"] = "\(rule)" }
        log.info("retention message decided", metadata: context.metadata(metadata))
    }
}
