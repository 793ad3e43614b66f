import AppStoreData
import Dispatch
import Foundation
import Logging
import NIOConcurrencyHelpers
import NIOCore
import OfferCore
import OfferCrypto
import OfferEligibility
import OfferHTTP
import OfferIdentity
import OfferTelemetry
import TestSupport

@testable import OfferConfiguration
@testable import OfferService
@testable import SubscriberSync

/// The whole service without a socket, with a fixed time and nonces that no other one has.
struct TestService {
    let router: Router
    let signer: OfferSigner
    let signing: SigningEndpoints
    let keyHealth: KeyHealth
    let log: RecordedLog
    let metrics: ServiceMetrics
    let refusals: RefusalLog
    let trust: AppStoreTrust?
    let readiness: Readiness
    let policy: CurrentPolicy
    /// To be run by tests of what may outlast a request.
    let detachedWork: DetachedWork
    let retentionHealth: RetentionHealth
    let application: Application

    /// The key sets of identity providers.
    let userKeys: CurrentUserKeys
    /// The time that signatures and health use.
    let wall = NIOLockedValueBox(Fixtures.timestamp)
    /// The time that rate limits use.
    let clock = NIOLockedValueBox(NIODeadline.uptimeNanoseconds(1_000_000_000_000))

    /// The seed of the next service's nonces. Services that share a database must not repeat each other's.
    private static let nextSeed = NIOLockedValueBox<UInt64>(1)

    /// - Parameters:
    ///   - pair: the signing key; nil for a new one.
    ///   - parts: sets what few tests need.
    init(
        pair: (any SigningKeyPair)? = nil, catalogue: Catalogue? = nil, issuerIDs: IssuerIDs = IssuerIDs(),
        callers: [Caller] = [], userIssuers: [UserIssuer] = [], usernameSalt: Secret? = nil,
        limits: Limits = Limits(), proxies: TrustedProxies = TrustedProxies(), webOrigins: Set<WebOrigin> = [],
        role: ListenerRole = .all,
        isOnLoopback: Bool = false, logLevel: Logger.Level = .trace, appStore: AppStoreSettings = AppStoreSettings(),
        ocsp: OCSPTransport? = nil, store: CurrentStore? = nil,
        parts: (inout Application.Dependencies) -> Void = { _ in }
    ) throws {
        log = RecordedLog(level: logLevel)
        let seed = Self.nextSeed.withLockedValue { seed in
            defer { seed += 1 }
            return seed
        }
        let nonces = NIOLockedValueBox(SplitMix64(seed: seed))
        let pair = try pair ?? Fixtures.makeSigningKey()
        let policy = CurrentPolicy(
            Policy(
                ring: KeyRing(active: KeyRing.Key(id: try Fixtures.keyID(), pair: pair)), catalogue: catalogue,
                issuerIDs: issuerIDs, callers: Callers(callers, userIssuers: userIssuers, usernameSalt: usernameSalt),
                limits: limits, proxies: proxies, webOrigins: webOrigins))
        self.policy = policy
        let sources = SystemInputs(
            now: { [wall] in wall.withLockedValue { $0 } }, uptime: { [clock] in clock.withLockedValue { $0 } },
            makeNonce: { nonces.withLockedValue { Nonce(using: &$0) } })
        var dependencies = Application.Dependencies(policy: policy, sources: sources, log: log.logger)
        // The tests occupy every core, so an idle-priority thread can wait for minutes.
        dependencies.front.searchWait = .seconds(3600)
        dependencies.subscribers.store = store
        dependencies.front.composeRefusals = { $0() }
        dependencies.subscribers.trust = AppStoreTrust(
            appStore, transport: ocsp, now: sources.now, metrics: dependencies.telemetry.metrics.sync, log: log.logger)
        parts(&dependencies)
        (trust, readiness) = (dependencies.subscribers.trust, dependencies.telemetry.readiness)
        metrics = dependencies.telemetry.metrics
        userKeys = dependencies.front.userKeys
        let application = Application(dependencies)
        self.application = application
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
        _ path: String, _ json: String, authorization: String? = nil, token: String? = nil, peer: String? = nil,
        forwardedFor: String? = nil, shedding: LoadShedding = .none
    ) -> HTTPResponse {
        respond(
            .json(
                "POST", path, json, authorization: authorization, token: token, peer: peer, forwardedFor: forwardedFor),
            shedding: shedding)
    }

    /// Like ``post(_:_:authorization:token:peer:forwardedFor:shedding:)``, but without blocking the thread.
    func postLater(
        _ path: String, _ json: String, authorization: String? = nil, token: String? = nil, peer: String? = nil
    ) async -> HTTPResponse {
        await respondLater(.json("POST", path, json, authorization: authorization, token: token, peer: peer))
    }

    func get(
        _ target: String, authorization: String? = nil, token: String? = nil, host: String? = nil, peer: String? = nil,
        shedding: LoadShedding = .none
    ) -> HTTPResponse {
        respond(
            HTTPRequest(
                method: "GET", target: target, host: host, authorization: authorization ?? token.map { "Bearer \($0)" },
                peer: peer.flatMap { IPAddress($0) }), shedding: shedding)
    }

    /// Advances the clock of rate limits.
    func advanceClock(by time: TimeAmount) { clock.withLockedValue { $0 = $0 + time } }

    func setTime(_ time: Timestamp) { wall.withLockedValue { $0 = time } }

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

extension HTTPRequest {
    /// - Parameter token: what follows `Bearer` in the authorization.
    static func json(
        _ method: String, _ path: String, _ body: String, authorization: String? = nil, token: String? = nil,
        peer: String? = nil, forwardedFor: String? = nil
    ) -> HTTPRequest {
        HTTPRequest(
            method: method, target: path, contentType: "application/json",
            authorization: authorization ?? token.map { "Bearer \($0)" }, peer: peer.flatMap { IPAddress($0) },
            forwardedFor: forwardedFor, body: Array(body.utf8))
    }
}

extension Caller {
    /// A caller whose token, unless it is given, is `token-of-` and the name.
    static func test(
        _ name: String = "one", _ scopes: Set<Scope> = Set(Scope.allCases), apps: [String]? = nil, token: String? = nil,
        expiry: Timestamp? = nil
    ) throws -> Caller {
        Caller(
            name: name, tokenDigest: try SHA256.hash(Array((token ?? "token-of-\(name)").utf8)), scopes: scopes,
            apps: try apps.map { Set(try $0.map { try BundleID(utf8: Array($0.utf8)) }) }, expiry: expiry)
    }
}

extension Limits {
    /// The default limits, except for one.
    static func with(_ limit: WritableKeyPath<Limits, RateLimit?>, _ perSecond: Double, _ burst: Int) -> Limits {
        var limits = Limits()
        limits[keyPath: limit] = RateLimit(perSecond: perSecond, burst: burst)
        return limits
    }
}

/// A key pair with a behaviour that the test chooses. By default, its own verification refuses each signature.
final class StubKeyPair: SigningKeyPair {
    let fingerprint = ""
    private let makeSignature: @Sendable ([UInt8]) throws -> [UInt8]
    private let accepts: @Sendable ([UInt8], [UInt8]) throws -> Bool

    init(
        sign: @escaping @Sendable (_ message: [UInt8]) throws -> [UInt8] = { _ in [0x30, 0x00] },
        verify: @escaping @Sendable (_ signature: [UInt8], _ message: [UInt8]) throws -> Bool = { _, _ in false }
    ) {
        (makeSignature, accepts) = (sign, verify)
    }

    func sign(_ message: [UInt8]) throws -> [UInt8] { try makeSignature(message) }

    func verify(_ signature: [UInt8], of message: [UInt8]) throws -> Bool { try accepts(signature, message) }
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
