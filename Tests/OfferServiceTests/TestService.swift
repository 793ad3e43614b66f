import AppStoreData
import Dispatch
import Foundation
import Logging
import NIOConcurrencyHelpers
import NIOCore
import OfferAudit
import OfferCore
import OfferEligibility
import OfferHTTP
import OfferIdentity
import OfferTelemetry
import TestSupport

@testable import OfferConfiguration
@testable import OfferService
@testable import SubscriberSync

/// The whole service without a socket, with a fixed time and fixed nonces.
struct TestService {
    let router: Router
    let signer: OfferSigner
    let signing: SigningEndpoints
    let keyHealth: KeyHealth
    let log: RecordedLog
    let metrics: ServiceMetrics
    let refusals: RefusalLog
    let trust: AppStoreTrust?
    /// To be run by tests of what may outlast a request.
    let detachedWork: DetachedWork
    let retentionHealth: RetentionHealth

    /// The key sets of identity providers.
    let userKeys: CurrentUserKeys
    /// The time that signatures and health use.
    let wall = NIOLockedValueBox(Fixtures.timestamp)
    /// The time that rate limits use.
    let clock = NIOLockedValueBox(NIODeadline.uptimeNanoseconds(1_000_000_000_000))

    init(
        pair: any SigningKeyPair, catalogue: Catalogue? = nil, issuerIDs: IssuerIDs = IssuerIDs(),
        callers: [Caller] = [], userIssuers: [UserIssuer] = [],
        usernameSalt: Secret? = nil, limits: Limits = Limits(), proxies: TrustedProxies = TrustedProxies(),
        readiness: Readiness = Readiness(), trail: AuditTrail? = nil, selfTest: SelfTest? = nil,
        earliest: Timestamp = .min, explanationWait: Duration = .seconds(3600), role: ListenerRole = .all,
        isOnLoopback: Bool = false, logLevel: Logger.Level = .trace, appStore: AppStoreSettings = AppStoreSettings(),
        ocsp: OCSPTransport? = nil, store: CurrentStore? = nil, retentionDeadline: Duration? = nil,
        composeRefusals: @escaping RefusalLog.Run = { $0() }
    ) throws {
        log = RecordedLog(level: logLevel)
        let nonces = NIOLockedValueBox(SplitMix64(seed: 1))
        let policy = CurrentPolicy(
            Policy(
                ring: KeyRing(active: KeyRing.Key(id: try Fixtures.keyID(), pair: pair)), catalogue: catalogue,
                issuerIDs: issuerIDs, callers: Callers(callers, userIssuers: userIssuers, usernameSalt: usernameSalt),
                limits: limits, proxies: proxies))
        let sources = SystemInputs(
            now: { [wall] in wall.withLockedValue { $0 } }, uptime: { [clock] in clock.withLockedValue { $0 } },
            makeNonce: { nonces.withLockedValue { Nonce(using: &$0) } })
        var dependencies = Application.Dependencies(policy: policy, sources: sources, log: log.logger)
        dependencies.telemetry.readiness = readiness
        dependencies.safeguards.trail = trail
        dependencies.safeguards.selfTest = selfTest
        dependencies.safeguards.earliest = earliest
        // The tests occupy every core, so an idle-priority thread can wait for minutes.
        dependencies.front.explanationWait = explanationWait
        dependencies.subscribers.store = store
        if let retentionDeadline { dependencies.retentionDeadline = retentionDeadline }
        dependencies.front.composeRefusals = composeRefusals
        dependencies.subscribers.trust = AppStoreTrust(
            appStore, transport: ocsp, now: sources.now, metrics: dependencies.telemetry.metrics.sync, log: log.logger)
        trust = dependencies.subscribers.trust
        metrics = dependencies.telemetry.metrics
        userKeys = dependencies.front.userKeys
        let application = Application(dependencies)
        signer = application.signer
        signing = application.signing
        keyHealth = application.keyHealth
        detachedWork = application.detachedWork
        retentionHealth = application.retentionHealth
        refusals = application.refusals
        router = application.router(for: role, isOnLoopback: isOnLoopback)
    }

    /// Returns the response to a request from any lane. Every commit counts as durable.
    func respond(_ request: HTTPRequest, shedding: LoadShedding = .none) -> HTTPResponse {
        switch router.reply(to: request, shedding: shedding) {
        case .now(let response): return response
        case .after(_, let response): return response(true)
        case .later(let work, _, _): return Self.wait(for: work)
        }
    }

    /// Like ``respond(_:shedding:)``, but without blocking the thread.
    func respondLater(_ request: HTTPRequest, shedding: LoadShedding = .none) async -> HTTPResponse {
        switch router.reply(to: request, shedding: shedding) {
        case .now(let response): return response
        case .after(_, let response): return response(true)
        case .later(let work, _, _): return await work()()
        }
    }

    /// Blocks until the response is ready. The work runs on separate threads, because blocked tests can occupy the whole
    /// task pool.
    private static func wait(for work: @escaping @Sendable () async -> Reply.MakeResponse) -> HTTPResponse {
        let response = NIOLockedValueBox<HTTPResponse?>(nil)
        let isDone = DispatchSemaphore(value: 0)
        Task(executorPreference: QueueExecutor.shared) {
            let made = await work()()
            response.withLockedValue { $0 = made }
            isDone.signal()
        }
        isDone.wait()
        return response.withLockedValue { $0 } ?? HTTPResponse(status: 0, body: [])
    }

    private final class QueueExecutor: TaskExecutor {
        static let shared = QueueExecutor()
        private let queue = DispatchQueue(label: "later", attributes: .concurrent)

        func enqueue(_ job: consuming ExecutorJob) {
            let job = UnownedJob(job)
            queue.async { unsafe job.runSynchronously(on: self.asUnownedTaskExecutor()) }
        }
    }

    /// - Parameters:
    ///   - peer: the client's address; nil if unknown.
    ///   - forwardedFor: the value of `X-Forwarded-For`.
    func post(
        _ path: String, _ json: String, authorization: String? = nil, peer: String? = nil, forwardedFor: String? = nil
    ) -> HTTPResponse {
        respond(
            Self.post(path, json, authorization: authorization, peer: peer, forwardedFor: forwardedFor))
    }

    /// Like ``post(_:_:authorization:peer:forwardedFor:)``, but without blocking the thread.
    func postLater(
        _ path: String, _ json: String, authorization: String? = nil, peer: String? = nil, forwardedFor: String? = nil
    ) async -> HTTPResponse {
        await respondLater(
            Self.post(path, json, authorization: authorization, peer: peer, forwardedFor: forwardedFor))
    }

    private static func post(
        _ path: String, _ json: String, authorization: String?, peer: String?, forwardedFor: String?
    ) -> HTTPRequest {
        HTTPRequest(
            method: "POST", target: path, contentType: "application/json", authorization: authorization,
            peer: peer.flatMap { IPAddress($0) }, forwardedFor: forwardedFor, body: Array(json.utf8))
    }

    func get(_ target: String, authorization: String? = nil) -> HTTPResponse {
        respond(HTTPRequest(method: "GET", target: target, authorization: authorization))
    }

    /// The body of `/metrics`.
    func scrape() -> Scrape { Scrape(get("/metrics").body) }
}

extension HTTPResponse {
    /// The body, parsed by Foundation rather than by our own reader.
    var json: [String: Any] {
        (try? JSONSerialization.jsonObject(with: Data(body))) as? [String: Any] ?? [:]
    }

    var text: String { String(decoding: body, as: UTF8.self) }
}

extension MemoryBudget {
    /// More memory than any test needs.
    static let roomy = MemoryBudget(limit: 1 << 30)
}

extension ConnectionSources {
    static let unlimited = ConnectionSources {
        Rules(limits: Limits(), proxies: TrustedProxies(arePeersProxies: true))
    }
}
