import NIOConcurrencyHelpers
package import NIOCore
import OfferCore
package import OfferEligibility
package import OutgoingHTTP

/// The client of the App Store Server API.
///
/// ```
/// budget ─▶ breaker ─▶ token ─▶ exchange ─▶ read
///    ▲                                │ a temporary failure
///    └────────────── wait ◀───────────┘
/// ```
///
/// The client does not verify answers; see ``SignedAnswerReader``.
package final class AppStoreClient: Sendable {
    private let hosts: APIHosts
    private let tokens: TokenSource
    private let transport: any HTTPExchange
    private let pacing: Pacing
    private let budget: RequestBudget
    private let observe: @Sendable (APIObservation) -> Void
    private let breakers: [String: CircuitBreaker]
    private let retries = RetryBudget()

    private static let maximumAttempts = 4

    /// - Parameter observe: called after each exchange, and for each request that was not sent.
    package init(
        hosts: APIHosts, tokens: TokenSource, transport: any HTTPExchange, pacing: Pacing, limitScale: Double = 1,
        observe: @escaping @Sendable (APIObservation) -> Void = { _ in }
    ) {
        self.hosts = hosts
        self.tokens = tokens
        self.transport = transport
        self.pacing = pacing
        self.observe = observe
        budget = RequestBudget(scale: limitScale)
        breakers = Dictionary(
            [hosts.production, hosts.sandbox].map { ($0, CircuitBreaker()) }, uniquingKeysWith: { first, _ in first })
    }

    /// Sends a request, repeats it after a temporary failure, and reads the answer.
    ///
    /// It does not wait when Apple's limit is reached: `.limited` contains the time of the next permitted request.
    /// - Parameter deadline: the end of all attempts; nil for none.
    package func send<Answer>(
        _ call: APICall<Answer>, for app: AppScope, by deadline: NIODeadline? = nil
    ) async throws(APIFailure) -> Answer {
        var hasRenewedToken = false
        var attempt = 0
        while true {
            attempt += 1
            let began = pacing.uptime()
            let result = await self.attempt(call, for: app, by: deadline)
            observe(
                APIObservation(
                    app: app, endpoint: call.endpoint, outcome: result.outcome, duration: pacing.uptime() - began))
            switch result {
            case .success(let answer): return answer
            case .failure(.unauthorised) where !hasRenewedToken: hasRenewedToken = true
            case .failure(let failure):
                guard failure.isRetryable, !failure.isWaitingUseless, attempt < Self.maximumAttempts,
                    call.isRepeatable, await pacing.waits(beforeRetry: attempt, by: deadline, if: retries.take)
                else { throw failure }
            }
        }
    }

    private func attempt<Answer>(
        _ call: APICall<Answer>, for app: AppScope, by deadline: NIODeadline?
    ) async -> Result<Answer, APIFailure> {
        do throws(APIFailure) {
            guard let host = hosts[app.environment], let breaker = breakers[host] else { throw .noServer }
            let token: String
            do { token = try await tokens.token(for: app.bundleID) } catch { throw .noToken(error) }
            guard let timeout = pacing.timeout(until: deadline) else { throw .timedOut }
            guard breaker.admits(at: pacing.uptime()) else { throw .paused }
            if let time = budget.take(call.endpoint, of: app, at: pacing.now()) {
                breaker.recordEmptyResult()
                throw .limited(until: time)
            }
            retries.noteRequest()
            let request = call.request(to: host, token: token)
            do throws(APIFailure) {
                let answer = try read(await exchange(request, timeout: timeout), of: call, for: app)
                breaker.noteSuccess()
                return .success(answer)
            } catch {
                if case .unauthorised = error { tokens.discard(token, of: app.bundleID) }
                if error.isOfHost { breaker.noteFailure(at: pacing.uptime()) } else { breaker.noteSuccess() }
                throw error
            }
        } catch { return .failure(error) }
    }

    private func exchange(
        _ request: OutgoingRequest, timeout: Duration
    ) async throws(APIFailure) -> IncomingResponse {
        do { return try await transport.exchange(request, within: timeout) } catch {
            switch error {
            case .timedOut: throw .timedOut
            case .tooLarge: throw .unreadable(AnswerError("it is too large"))
            default: throw .unreachable("the App Store \(error)")
            }
        }
    }

    private func read<Answer>(
        _ response: IncomingResponse, of call: APICall<Answer>, for app: AppScope
    ) throws(APIFailure) -> Answer {
        switch response.status {
        case 200...299:
            do { return try call.answer(from: response.body) } catch { throw .unreadable(error) }
        case 401: throw .unauthorised(ClockError(date: response.header("Date"), at: pacing.now()))
        case 429:
            let now = pacing.now()
            let time = RetryAfter.time(response.header("Retry-After"), at: now)
            budget.close(call.endpoint, of: app, until: time, at: now)
            throw .limited(until: time)
        default:
            guard let code = try? AnswerReader(json: response.body).integer("errorCode") else {
                throw .status(response.status)
            }
            throw .refused(APIErrorCode(rawValue: code))
        }
    }
}

/// The outcome of one attempt to send a request to the App Store Server API, for metrics.
package struct APIObservation: Sendable {
    package let app: AppScope
    package let endpoint: APIEndpoint
    /// `success`, or the name of the failure.
    package let outcome: String
    package let duration: TimeAmount
}

extension APICall {
    /// The maximum size of a response in bytes. A page of 20 notifications takes about 400 kB.
    private static var maximumResponse: Int { 4 * 1024 * 1024 }

    fileprivate func request(to host: String, token: String) -> OutgoingRequest {
        var headers = [(name: "Accept", value: "application/json"), ("Authorization", "Bearer " + token)]
        if body != nil { headers.append(("Content-Type", contentType)) }
        return OutgoingRequest(
            method.rawValue, host + target, headers: headers, body: body, maximumResponse: Self.maximumResponse)
    }
}

extension Result where Failure == APIFailure {
    fileprivate var outcome: String {
        switch self {
        case .success: "success"
        case .failure(let failure): failure.name
        }
    }
}

extension APIFailure {
    /// True if waiting for a few seconds would not help.
    fileprivate var isWaitingUseless: Bool {
        switch self {
        case .limited, .paused: true
        default: false
        }
    }
}
