import Foundation
import Logging
import NIOConcurrencyHelpers
import NIOCore
import OfferCore
import OfferCrypto
import OfferServer
import TestSupport

/// The whole service without a socket, its time and nonces fixed.
struct TestRoutes {
    let routes: Routes
    let signer: OfferSigner
    let log: RecordedLog
    let metrics = ServiceMetrics()

    /// The key sets of identity providers.
    let userKeys = CurrentUserKeys()
    /// What signatures and health take for the time.
    let wall = NIOLockedValueBox(Fixtures.timestamp)
    /// What the limits take for the time.
    let clock = NIOLockedValueBox(NIODeadline.uptimeNanoseconds(1_000_000_000_000))

    init(
        pair: any SigningKeyPair, catalogue: Catalogue? = nil, issuerIDs: IssuerIDs = IssuerIDs(),
        callers: [Caller] = [], userIssuers: [UserIssuer] = [],
        usernameSalt: Secret? = nil, limits: Limits = Limits(), proxies: TrustedProxies = TrustedProxies(),
        readiness: Readiness = Readiness(), trail: AuditTrail? = nil, selfTest: SelfTest? = nil,
        earliest: Timestamp = .min, metricsPlace: Routes.Metrics = .beside
    ) throws {
        log = RecordedLog()
        let nonces = NIOLockedValueBox(SplitMix64(seed: 1))
        let setup = CurrentSetup(
            Setup(
                ring: KeyRing(active: KeyRing.Key(id: try Fixtures.keyID(), pair: pair)), catalogue: catalogue,
                issuerIDs: issuerIDs, callers: Callers(callers, userIssuers: userIssuers, usernameSalt: usernameSalt),
                limits: limits,
                proxies: proxies))
        let limiter = Limiter(metrics: metrics, log: log.logger, now: { [clock] in clock.withLockedValue { $0 } })
        let authenticator = Authenticator(
            sha256: SHA256.hash, now: { Fixtures.timestamp },
            users: UserAuthenticator(keys: userKeys, hmacSHA256: HMACSHA256.code(of:under:)),
            limiter: limiter)
        signer = OfferSigner(
            setup: setup, authenticator: authenticator, limiter: limiter, trail: trail, selfTest: selfTest,
            earliest: earliest,
            makeNonce: { nonces.withLockedValue { Nonce(using: &$0) } },
            now: { [wall] in wall.withLockedValue { $0 } }, metrics: metrics, log: log.logger)
        let explanations = Explanations(
            setup: setup, authenticator: authenticator, limiter: limiter, sha256: SHA256.hash,
            now: { Fixtures.timestamp }, log: log.logger)
        let health = Health(
            setup: setup, certificate: CurrentCertificate(nil), readiness: readiness, trail: trail, selfTest: selfTest,
            earliest: earliest, now: { [wall] in wall.withLockedValue { $0 } }, authenticator: authenticator)
        let metricsPage = MetricsPage(
            metrics: metrics, setup: setup, health: health, authenticator: authenticator, limiter: limiter,
            versions: BuildVersions(openSSL: OpenSSLVersion.text))
        routes = Routes(
            offers: signer, explanations: explanations, health: health, metrics: metrics, metricsPage: metricsPage,
            metricsPlace: metricsPlace, log: log.logger)
    }

    /// - Parameters:
    ///   - peer: where it comes from, if anybody knows.
    ///   - forwardedFor: what `X-Forwarded-For` says.
    func post(
        _ path: String, _ json: String, authorization: String? = nil, peer: String? = nil, forwardedFor: String? = nil
    ) -> Answer {
        routes.answer(
            IncomingRequest(
                method: "POST", target: path, contentType: "application/json", authorization: authorization,
                peer: peer.flatMap { IPAddress($0) }, forwardedFor: forwardedFor, body: Array(json.utf8)))
    }

    func get(_ target: String, authorization: String? = nil) -> Answer {
        routes.answer(IncomingRequest(method: "GET", target: target, authorization: authorization))
    }

    /// What `/metrics` shows to whoever may ask for everything.
    func scrape() -> Scrape { Scrape(get("/metrics").body) }
}

/// Keeps what is logged.
final class RecordedLog: Sendable {
    private let lines = NIOLockedValueBox<[String]>([])

    var logger: Logger {
        var logger = Logger(label: "test") { _ in Handler(log: self) }
        logger.logLevel = .trace
        return logger
    }

    var text: String { lines.withLockedValue { $0.joined(separator: "\n") } }

    private struct Handler: LogHandler {
        let log: RecordedLog
        var metadata: Logger.Metadata = [:]
        var logLevel: Logger.Level = .trace

        subscript(metadataKey key: String) -> Logger.MetadataValue? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) {
            log.lines.withLockedValue { $0.append("\(event.level) \(event.message) \(event.metadata ?? [:])") }
        }
    }
}

extension Answer {
    /// The body by another JSON reader than ours.
    var json: [String: Any] {
        (try? JSONSerialization.jsonObject(with: Data(body))) as? [String: Any] ?? [:]
    }

    var text: String { String(decoding: body, as: UTF8.self) }
}
