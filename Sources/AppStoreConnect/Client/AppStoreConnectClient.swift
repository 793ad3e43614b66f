package import AppStoreAPI
package import NIOCore
package import OfferCore
package import OutgoingHTTP

/// The client of the App Store Connect API. It only reads, sends one request at a time, and sends its token to one host.
package actor AppStoreConnectClient {
    private let host: String
    private let key: AppStoreConnectKey
    private let transport: any HTTPExchange
    private let pacing: Pacing
    /// The longest wait for the limit before a request fails with `.limited`.
    private let patience: Duration
    private let onWait: @Sendable (Timestamp) -> Void
    private let observe: @Sendable (AppStoreConnectObservation) -> Void

    private var allowance = HourlyAllowance()
    private var token: (text: String, issuedAt: Timestamp)?
    private var isBusy = false
    private var waiting: [CheckedContinuation<Void, Never>] = []
    /// The number of requests sent so far.
    package private(set) var requestCount = 0

    package static let appleHost = "https://api.appstoreconnect.apple.com"
    private static let attemptTimeout = Duration.seconds(30)
    private static let maximumAttempts = 4
    private static let maximumRefusals = 5
    /// A page of 200 prices takes about 400 kB.
    private static let maximumResponse = 16 * 1024 * 1024
    private static let maximumPages = 100
    /// The time for which a token is used. It ends early so that a request arrives before its token expires.
    private static let tokenUse = Duration.seconds(480)

    /// - Parameters:
    ///   - host: the base URL without a trailing slash; nil for Apple's.
    ///   - patience: the longest wait for the limit before a request fails with `.limited`.
    ///   - onWait: called with the end of each wait for the limit.
    ///   - observe: called after each attempt.
    package init(
        host: String? = nil, key: AppStoreConnectKey, transport: any HTTPExchange, pacing: Pacing,
        patience: Duration = .hours(1), onWait: @escaping @Sendable (Timestamp) -> Void = { _ in },
        observe: @escaping @Sendable (AppStoreConnectObservation) -> Void = { _ in }
    ) {
        self.host = host ?? Self.appleHost
        self.key = key
        self.transport = transport
        self.pacing = pacing
        self.patience = patience
        self.onWait = onWait
        self.observe = observe
    }

    /// Reads all pages of a list.
    func pages(_ request: AppStoreConnectRequest) async throws(AppStoreConnectFailure) -> [JSONAPIDocument] {
        var documents: [JSONAPIDocument] = []
        var seen: Set<AppStoreConnectRequest> = [request]
        var request = request
        while true {
            let document = try await page(request)
            documents.append(document)
            guard let link = document.next else { return documents }
            guard let next = request.following(link), seen.insert(next).inserted, seen.count <= Self.maximumPages else {
                throw .unreadable("its link to the next page leads elsewhere")
            }
            request = next
        }
    }

    /// Reads one page, and repeats the request after a temporary failure.
    func page(_ request: AppStoreConnectRequest) async throws(AppStoreConnectFailure) -> JSONAPIDocument {
        await takeTurn()
        defer { giveTurn() }
        var (attempts, refusals, hasRenewedToken) = (0, 0, false)
        while true {
            try await waitForLimit()
            do throws(AppStoreConnectFailure) { return try await attempt(request) } catch {
                switch error {
                case .unauthorised where !hasRenewedToken:
                    hasRenewedToken = true
                    token = nil
                case .limited where refusals < Self.maximumRefusals: refusals += 1
                default:
                    attempts += 1
                    guard error.isTemporary, attempts < Self.maximumAttempts,
                        await pacing.waits(beforeRetry: attempts, by: nil)
                    else { throw error }
                }
            }
        }
    }

    private func attempt(_ request: AppStoreConnectRequest) async throws(AppStoreConnectFailure) -> JSONAPIDocument {
        let began = pacing.uptime()
        do throws(AppStoreConnectFailure) {
            let document = try await exchange(request)
            observe(AppStoreConnectObservation(outcome: "success", duration: pacing.uptime() - began))
            return document
        } catch {
            observe(AppStoreConnectObservation(outcome: error.name, duration: pacing.uptime() - began))
            throw error
        }
    }

    private func exchange(_ request: AppStoreConnectRequest) async throws(AppStoreConnectFailure) -> JSONAPIDocument {
        let headers = [
            (name: "Accept", value: "application/json"), ("Authorization", "Bearer " + (try currentToken())),
        ]
        allowance.note(requestAt: pacing.now())
        requestCount += 1
        let response: IncomingResponse
        do {
            response = try await transport.exchange(
                OutgoingRequest("GET", host + request.target, headers: headers, maximumResponse: Self.maximumResponse),
                within: Self.attemptTimeout)
        } catch {
            switch error {
            case .timedOut: throw .timedOut
            case .tooLarge: throw .unreadable("it is too large")
            default: throw .unreachable("the host \(error)")
            }
        }
        return try read(response)
    }

    private func read(_ response: IncomingResponse) throws(AppStoreConnectFailure) -> JSONAPIDocument {
        let now = pacing.now()
        if response.status == 429 {
            throw .limited(
                until: allowance.note(
                    refusalAt: now, retryAfter: response.header("Retry-After"), date: ClockError.time))
        }
        allowance.note(rateLimit: response.header("X-Rate-Limit"), at: now)
        switch response.status {
        case 200: return try JSONAPIDocument(json: response.body)
        case 401: throw .unauthorised(ClockError(date: response.header("Date"), at: now))
        case 403: throw Self.names(response.body, "AGREEMENT") ? .agreementMissing : .forbidden
        case 404: throw .notFound
        default: throw .status(response.status)
        }
    }

    /// Returns true if an error in the body has a code with this part, or speaks of an agreement.
    private static func names(_ body: [UInt8], _ part: String) -> Bool {
        guard case .array(let errors)? = (try? JSONReader.read(body))?["errors"] else { return false }
        return errors.contains { error in
            let texts = [error["code"]?.text, error["detail"]?.text].compactMap(\.self)
            return texts.contains { $0.uppercased().contains(part) }
        }
    }

    private func currentToken() throws(AppStoreConnectFailure) -> String {
        let now = pacing.now()
        if let token, token.issuedAt <= now, now < token.issuedAt + Self.tokenUse { return token.text }
        do {
            let text = try key.token(at: now)
            token = (text, now)
            return text
        } catch { throw .noToken }
    }

    private func waitForLimit() async throws(AppStoreConnectFailure) {
        while case let now = pacing.now(), case let time = allowance.next(at: now), time > now {
            guard time - now <= patience else { throw .limited(until: time) }
            onWait(time)
            do { try await pacing.sleep(time - now) } catch { throw .limited(until: time) }
        }
    }

    // MARK: Turns

    private func takeTurn() async {
        guard isBusy else {
            isBusy = true
            return
        }
        await withCheckedContinuation { waiting.append($0) }
    }

    private func giveTurn() {
        if waiting.isEmpty { isBusy = false } else { waiting.removeFirst().resume() }
    }
}

/// The outcome of one attempt to read from App Store Connect, for metrics.
package struct AppStoreConnectObservation: Sendable {
    /// `success`, or the name of the failure.
    package let outcome: String
    package let duration: TimeAmount
}
