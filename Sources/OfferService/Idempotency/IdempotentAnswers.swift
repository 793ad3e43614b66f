import NIOCore
import OfferConfiguration
import OfferCore
import OfferHTTP
import SubscriberStore
import SubscriberSync

/// Answers each request with an `Idempotency-Key` once, on all processes that share a database.
///
/// ```
/// claim ─▶ work (reserve under the claim ─▶ sign ─▶ audit) ─▶ keep the answer ─▶ answer
///   └ known ─▶ the kept answer
/// ```
///
/// Each answer is durable before it is sent. If a claim has no answer, none was sent. The process that takes such a claim
/// over withdraws its reservations and starts again.
struct IdempotentAnswers: Sendable {
    let store: CurrentStore
    let policy: CurrentPolicy
    let sources: SystemInputs
    let metrics: ServiceMetrics
    private let memory = AnswersInMemory()
    /// The limit on repeated requests that wait for the answer to the first, so that they leave room for others.
    private let waitLimit = LaneLimit(32)

    /// The time after which a repeated request takes over from a process that did not answer.
    private static let claimTime = Duration.seconds(10)
    /// The time for which a repeated request waits for the answer to the first. It is below ``TimeLimit/later``.
    private static let waitingTime = TimeAmount.seconds(25)
    private static let waitBetweenClaims = Duration.milliseconds(100)

    init(store: CurrentStore, policy: CurrentPolicy, sources: SystemInputs, metrics: ServiceMetrics) {
        self.store = store
        self.policy = policy
        self.sources = sources
        self.metrics = metrics
    }

    /// Returns a handler that answers requests with a key once. Other requests are passed to `handle` unchanged.
    func once(
        _ handle: @escaping @Sendable (HTTPRequest, Admission) throws(Problem) -> Endpoint.Lane
    ) -> @Sendable (HTTPRequest, Admission) throws(Problem) -> Endpoint.Lane {
        { request, admission throws(Problem) in
            guard let key = try IdempotencyKey(of: request) else { return try handle(request, admission) }
            let keyed = try IdempotentRequest(key, request, from: admission.principal)
            return .later { () async throws(Problem) in
                try await answer(keyed, admission) { admission async throws(Problem) in
                    switch try handle(request, admission) {
                    case .now(let answer):
                        guard await answer.commit?.isDurable() ?? true else { throw .auditUnavailable }
                        return answer.response
                    case .later(_, _, let work): return try await work()
                    }
                }
            }
        }
    }

    private func answer(
        _ request: IdempotentRequest, _ admission: Admission,
        _ work: (Admission) async throws(Problem) -> HTTPResponse
    ) async throws(Problem) -> HTTPResponse {
        let new = IdempotentRequest.Claim(request, owner: sources.makeNonce().uuid)
        let claim: Admission.Claim
        switch try await begin(new) {
        case .repeated(let answer):
            metrics.answered(.repeated)
            return HTTPResponse(answer)
        case .first(let begun): claim = begun
        }
        var admission = admission
        admission.claim = claim
        // The request may have waited.
        admission.policy = policy.snapshot
        let response: HTTPResponse
        do throws(Problem) { response = try await work(admission) } catch {
            // A refusal by a rule or a limit is an answer. After any other problem, the request can be sent again.
            guard error.code == .notEligible else {
                await release(claim)
                throw error
            }
            try await keep(error.response(to: admission.context), of: claim)
            throw error
        }
        if response.isFinal { try await keep(response, of: claim) } else { await release(claim) }
        return response
    }

    private enum Beginning {
        case first(Admission.Claim)
        case repeated(IdempotentRequest.Answer)
    }

    /// Claims a request, or waits for its answer.
    private func begin(_ claim: IdempotentRequest.Claim) async throws(Problem) -> Beginning {
        let deadline = sources.uptime() + Self.waitingTime
        var isWaiting = false
        defer { if isWaiting { waitLimit.leave() } }
        while true {
            let (result, claimed) = await tryToClaim(claim)
            switch result {
            case .granted:
                metrics.answered(.first)
                return .first(claimed)
            case .takenOver:
                metrics.answered(.takenOver)
                return .first(claimed)
            case .answered(let answer): return .repeated(answer)
            case .keyReused: throw .idempotencyKeyReused
            case .inProgress:
                if !isWaiting { isWaiting = waitLimit.enter() }
                guard isWaiting, sources.uptime() < deadline,
                    (try? await Task.sleep(for: Self.waitBetweenClaims)) != nil
                else {
                    throw .overloaded.with { $0.logReason = "the first request with this key is not answered" }
                }
            }
        }
    }

    private func tryToClaim(_ claim: IdempotentRequest.Claim) async -> (IdempotentRequest.ClaimResult, Admission.Claim)
    {
        let now = sources.now()
        if store.isConfigured, let result = try? await store.claim(claim, at: now, until: now + Self.claimTime) {
            return (result, .inStore(claim))
        }
        return (memory.claim(claim, at: now), .inMemory(claim))
    }

    /// Makes an answer durable, so that it may be sent.
    private func keep(_ response: HTTPResponse, of claim: Admission.Claim) async throws(Problem) {
        let answer = IdempotentRequest.Answer(status: response.status, body: response.body)
        switch claim {
        case .inMemory(let claim): memory.keep(answer, of: claim)
        case .inStore(let stored):
            let isKept: Bool
            do throws(StoreError) { isKept = try await store.keep(answer, of: stored) } catch {
                await release(claim)
                throw Problem(error)
            }
            guard isKept else { throw .takenOver }
        }
    }

    /// If this fails, the claim ends by itself, and what was reserved under it is withdrawn by a repeated request, or
    /// expires.
    private func release(_ claim: Admission.Claim) async {
        switch claim {
        case .inMemory(let claim): memory.release(claim)
        case .inStore(let claim): try? await store.release(claim)
        }
    }
}

extension HTTPResponse {
    /// Repeats an answer. Its `requestID` member, if it has one, is that of the first request.
    fileprivate init(_ answer: IdempotentRequest.Answer) {
        self.init(
            status: answer.status, mediaType: answer.status == 200 ? .json : .problem, body: answer.body)
    }
}
