package import NIOCore
package import OfferCore
package import OfferEligibility
package import OutgoingHTTP

/// The client of `verifyReceipt`, the legacy service that describes receipts. Apple has deprecated it but still runs
/// it.
///
/// Production is queried first. If its status says that the receipt is from the sandbox, the sandbox is queried, as
/// Apple recommends.
package struct ReceiptServiceClient: Sendable {
    private let hosts: ReceiptServiceHosts
    private let transport: any HTTPExchange
    private let pacing: Pacing
    private let observe: @Sendable (ReceiptServiceObservation) -> Void
    private let breakers: [AppStoreEnvironment: CircuitBreaker]

    private static let maximumAttempts = 3
    /// The maximum size of a response in bytes. Ten thousand purchases, the limit of ``AnswerReader``, take 12 MB.
    private static let maximumResponse = 16 * 1024 * 1024

    /// - Parameter observe: called after each exchange, and for each request that was not sent.
    package init(
        hosts: ReceiptServiceHosts, transport: any HTTPExchange, pacing: Pacing,
        observe: @escaping @Sendable (ReceiptServiceObservation) -> Void = { _ in }
    ) {
        self.hosts = hosts
        self.transport = transport
        self.pacing = pacing
        self.observe = observe
        breakers = [.production: CircuitBreaker(), .sandbox: CircuitBreaker()]
    }

    /// Requests the current contents of a receipt.
    /// - Parameters:
    ///   - receipt: the receipt in CMS, as the app stores it.
    ///   - sharedSecret: the app's shared secret, which receipts with subscriptions require.
    ///   - excludesOld: true to omit all periods of each subscription except the last.
    ///   - deadline: the end of all attempts; nil for none.
    package func describe(
        _ receipt: [UInt8], sharedSecret: Secret, excludesOld: Bool = false, by deadline: NIODeadline? = nil
    ) async throws(ReceiptServiceFailure) -> ReceiptServiceAnswer {
        var writer = JSONWriter()
        writer.member("receipt-data", utf8: Base64.text(of: receipt))
        writer.member("password", sharedSecret.reveal)
        writer.member("exclude-old-transactions", excludesOld)
        let body = writer.finish()
        do throws(ReceiptServiceFailure) {
            return try await ask(.production, body, by: deadline)
        } catch {
            guard case .status(.ofSandbox) = error else { throw error }
            return try await ask(.sandbox, body, by: deadline)
        }
    }

    private func ask(
        _ environment: AppStoreEnvironment, _ body: [UInt8], by deadline: NIODeadline?
    ) async throws(ReceiptServiceFailure) -> ReceiptServiceAnswer {
        var attempt = 0
        while true {
            attempt += 1
            let began = pacing.uptime()
            let result = await self.attempt(environment, body, by: deadline)
            observe(
                ReceiptServiceObservation(
                    environment: environment, outcome: result.outcome, duration: pacing.uptime() - began))
            switch result {
            case .success(let answer): return answer
            case .failure(let failure):
                guard failure.isRetryable, attempt < Self.maximumAttempts,
                    await pacing.waits(beforeRetry: attempt, by: deadline)
                else { throw failure }
            }
        }
    }

    private func attempt(
        _ environment: AppStoreEnvironment, _ body: [UInt8], by deadline: NIODeadline?
    ) async -> Result<ReceiptServiceAnswer, ReceiptServiceFailure> {
        guard let timeout = pacing.timeout(until: deadline) else { return .failure(.timedOut) }
        guard let breaker = breakers[environment], breaker.admits(at: pacing.uptime()) else {
            return .failure(.paused)
        }
        do throws(ReceiptServiceFailure) {
            let answer = try read(await exchange(environment, body, within: timeout), from: environment)
            breaker.noteSuccess()
            return .success(answer)
        } catch {
            if error.isOfHost { breaker.noteFailure(at: pacing.uptime()) } else { breaker.noteSuccess() }
            return .failure(error)
        }
    }

    private func exchange(
        _ environment: AppStoreEnvironment, _ body: [UInt8], within timeout: Duration
    ) async throws(ReceiptServiceFailure) -> IncomingResponse {
        let url = (environment == .production ? hosts.production : hosts.sandbox) + "/verifyReceipt"
        do {
            return try await transport.exchange(
                OutgoingRequest(
                    "POST", url, headers: [("Accept", "application/json"), ("Content-Type", "application/json")],
                    body: body, maximumResponse: Self.maximumResponse),
                within: timeout)
        } catch {
            switch error {
            case .timedOut: throw .timedOut
            case .tooLarge: throw .unreadable(AnswerError("it is too large"))
            default: throw .unreachable("the receipt service \(error)")
            }
        }
    }

    private func read(
        _ response: IncomingResponse, from environment: AppStoreEnvironment
    ) throws(ReceiptServiceFailure) -> ReceiptServiceAnswer {
        guard response.status == 200 else { throw .httpStatus(response.status) }
        return try ReceiptServiceAnswer(json: response.body, from: environment)
    }
}

/// The outcome of one attempt to send a request to `verifyReceipt`, for metrics.
package struct ReceiptServiceObservation: Sendable {
    package let environment: AppStoreEnvironment
    /// `success`, or the name of the failure.
    package let outcome: String
    package let duration: TimeAmount
}

extension Result where Failure == ReceiptServiceFailure {
    fileprivate var outcome: String {
        switch self {
        case .success: "success"
        case .failure(let failure): failure.name
        }
    }
}

/// The base URLs of `verifyReceipt`, without the path.
package struct ReceiptServiceHosts: Hashable, Sendable {
    package let production: String
    package let sandbox: String

    /// - Parameters: the base URLs; nil means Apple's URL.
    package init(production: String? = nil, sandbox: String? = nil) {
        self.production = production ?? "https://buy.itunes.apple.com"
        self.sandbox = sandbox ?? "https://sandbox.itunes.apple.com"
    }
}

/// The reason that `verifyReceipt` did not describe a receipt.
package enum ReceiptServiceFailure: Error, Hashable, Sendable {
    case status(ReceiptServiceStatus)
    /// A temporary status. The same request may succeed later.
    case temporary(ReceiptServiceStatus)
    case httpStatus(Int)
    case unreachable(String)
    case timedOut
    case unreadable(AnswerError)
    /// The host has failed repeatedly, so it gets no requests for a while.
    case paused

    package var isRetryable: Bool {
        switch self {
        case .temporary, .unreachable, .timedOut: true
        case .httpStatus(let status): status >= 500
        case .status, .unreadable, .paused: false
        }
    }

    /// True if the failure shows a problem of the host rather than of the receipt.
    fileprivate var isOfHost: Bool {
        switch self {
        // Apple also sends 21002 for malformed receipts.
        case .temporary(let status): status != .malformed
        case .httpStatus(let status): status >= 500
        case .unreachable, .timedOut: true
        case .status, .unreadable, .paused: false
        }
    }

    /// A stable name for metrics.
    package var name: String {
        switch self {
        case .status(let status), .temporary(let status): status.name
        case .httpStatus: "http_status"
        case .unreachable: "unreachable"
        case .timedOut: "timed_out"
        case .unreadable: "unreadable"
        case .paused: "paused"
        }
    }

    /// The action for an operator; nil if the failure concerns a single receipt.
    package var hint: String? {
        switch self {
        case .status(.wrongSharedSecret): "correct sharedSecret of the app in the configuration file"
        case .temporary(let status) where status != .malformed: "see Apple's system status page"
        case .unreachable, .timedOut, .paused, .httpStatus:
            "check the network and Apple's system status page; the service tries again"
        case .unreadable: "see docs/app-store.md"
        case .status, .temporary: nil
        }
    }
}

extension ReceiptServiceFailure: CustomStringConvertible {
    package var description: String {
        switch self {
        case .status(let status), .temporary(let status): "\(status.rawValue): \(status.sentence)"
        case .httpStatus(let status): "the receipt service answered with HTTP status \(status)"
        case .unreachable(let reason): reason
        case .timedOut: "the receipt service did not answer in time"
        case .unreadable(let error): "the answer cannot be read: \(error.reason)"
        case .paused: "the receipt service has failed several times, so requests to it are paused briefly"
        }
    }
}
