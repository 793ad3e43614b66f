import CProcess
import FoundationEssentials
package import Logging
import OfferAudit
package import OfferCore
import OfferCrypto
import OfferHTTP
import OfferIdentity
package import OfferTelemetry
package import ServiceLifecycle
package import UnixSignals

/// Builds the whole service from a configuration: its listeners and its background tasks.
package enum ServiceBuilder {
    /// Builds everything and reads the keys, but does not listen yet.
    /// - Parameters:
    ///   - reloadSignals: signals that each trigger a reload.
    ///   - readConfiguration: rereads the configuration for a reload.
    ///   - onListening: called once with the port of the main listener, and that of the metrics listener if there is
    ///     one.
    /// - Returns: the services in start order. They must stop in reverse order, so that keys are watched while requests
    ///   still arrive.
    /// - Throws: every problem that the operator has to fix.
    package static func build(
        _ configuration: Configuration, reloadSignals: UnixSignalsSequence,
        readConfiguration: @escaping ConfigurationReloader.ReadConfiguration, log: Logger, logLevel: LogLevel,
        onListening: @escaping @Sendable (_ port: Int, _ metricsPort: Int?) -> Void
    ) async throws(ConfigurationError) -> [any Service] {
        let (readiness, metrics, sources) = (Readiness(), ServiceMetrics(), Sources.system)
        let selfTest = try SelfTest(KnownAnswers())
        let reloader = try ConfigurationReloader(
            configuration, readConfiguration: readConfiguration, reloadSignals: reloadSignals, readiness: readiness,
            metrics: metrics, log: log, logLevel: logLevel)
        var dependencies = Application.Dependencies(policy: reloader.policy, sources: sources, log: log)
        dependencies.metrics = metrics
        dependencies.readiness = readiness
        dependencies.certificate = reloader.certificate
        dependencies.selfTest = selfTest
        dependencies.earliest = ClockCheck.ofThisBuild.earliest
        dependencies.trail = try await AuditTrail.open(
            configuration.audit, now: sources.now, readiness: readiness, metrics: metrics.audit, log: log)
        let jwksRefresher = JWKSRefresher(
            policy: reloader.policy, keys: dependencies.userKeys, source: KeySetReader(), readiness: readiness, log: log
        )
        let budget = MemoryBudget(limit: configuration.memoryLimit)
        dependencies.budget = budget
        let settings = configuration.appStore
        let ocspClient = settings.asksOCSP ? OCSPClient() : nil
        let trust = AppStoreTrust(
            settings, transport: ocspClient?.transport, now: sources.now, metrics: metrics, log: log)
        dependencies.trust = trust
        let application = Application(dependencies)
        let healthMonitor = HealthMonitor(
            selfTest: selfTest, keys: application.keyHealth, trail: dependencies.trail, clock: .ofThisBuild,
            now: sources.now, readiness: readiness, metrics: metrics,
            refusals: application.refusals, log: log)
        let server = HTTPServer(
            listeners: listeners(configuration, application), certificate: reloader.certificate,
            readiness: readiness, metrics: metrics.connections, budget: budget,
            sources: ConnectionSources { [policy = reloader.policy] in
                let policy = policy.snapshot
                return ConnectionSources.Rules(limits: policy.limits, proxies: policy.proxies)
            }
        ) { ports in onListening(ports[0], ports.dropFirst().first) }
        let watch = AppStoreWatch(trust, client: ocspClient, settings: settings, readiness: readiness, log: log)
        return [reloader, jwksRefresher, healthMonitor, watch, server]
    }

    private static func listeners(_ configuration: Configuration, _ application: Application) -> [Listener] {
        func router(_ role: ListenerRole, at address: ListeningAddress) -> Router {
            application.router(for: role, isOnLoopback: LoopbackAddress.isLoopback(address.host))
        }
        guard let metricsAddress = configuration.metricsAddress else {
            return [
                Listener(
                    configuration.address, sharesPort: configuration.sharesPort, maximumConnections: maximumConnections,
                    responder: router(.all, at: configuration.address))
            ]
        }
        return [
            Listener(
                configuration.address, sharesPort: configuration.sharesPort,
                maximumConnections: maximumConnections - maximumMetricsConnections,
                responder: router(.withoutMetrics, at: configuration.address)),
            Listener(
                metricsAddress, sharesPort: configuration.sharesPort, maximumConnections: maximumMetricsConnections,
                isPlain: true, responder: router(.metricsOnly, at: metricsAddress)),
        ]
    }

    /// Enough for Prometheus and a few people, yet small enough to leave most file descriptors for offers.
    private static let maximumMetricsConnections = 32

    /// The descriptor limit minus a reserve for files and for connections that are opening or closing; at most 10,000.
    private static var maximumConnections: Int {
        let descriptors = offer_descriptor_limit()
        return min(10_000, descriptors - min(100, descriptors / 2))
    }
}
