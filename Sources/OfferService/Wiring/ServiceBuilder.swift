import AppStoreAPI
import CProcess
import FoundationEssentials
package import Logging
import OfferAudit
package import OfferConfiguration
package import OfferCore
import OfferCrypto
import OfferEligibility
package import OfferHTTP
import OfferIdentity
package import OfferTelemetry
package import ServiceLifecycle
import SubscriberStore
package import SubscriberSync
package import UnixSignals

/// The builder of the whole service from a configuration, with its listeners and background tasks.
package enum ServiceBuilder {
    /// Makes the responder of the console's listener, and the services that it needs.
    package typealias MakeConsole = (Application, ConsoleSettings) throws(Diagnostic) -> (
        responder: any Responder, services: [any Service]
    )

    /// Builds the service and reads the keys, without listening.
    /// - Parameters:
    ///   - reloadSignals: signals that each trigger a reload.
    ///   - readConfiguration: rereads the configuration for a reload.
    ///   - makeConsole: makes the responder of the console, which is above this module.
    ///   - onListening: called once with the ports when the service listens.
    /// - Returns: the services in start order. They must stop in reverse order, so that keys are still watched while
    ///   requests arrive.
    /// - Throws: all problems that the operator must fix.
    package static func build(
        _ configuration: Configuration, reloadSignals: UnixSignalsSequence,
        readConfiguration: @escaping ConfigurationReloader.ReadConfiguration, log: Logger, logLevel: LogLevel,
        makeConsole: MakeConsole,
        onListening: @escaping @Sendable (ListeningPorts, CurrentStore) -> Void
    ) async throws(ConfigurationError) -> [any Service] {
        let (readiness, metrics, sources) = (Readiness(), ServiceMetrics(), SystemInputs.system)
        let selfTest = try SelfTest(KnownAnswers())
        let reloader = try ConfigurationReloader(
            configuration, readConfiguration: readConfiguration, reloadSignals: reloadSignals, readiness: readiness,
            log: log, logLevel: logLevel, observe: metrics.reloaded)
        var dependencies = Application.Dependencies(policy: reloader.policy, sources: sources, log: log)
        dependencies.telemetry.metrics = metrics
        dependencies.telemetry.readiness = readiness
        dependencies.front.certificate = reloader.certificate
        dependencies.safeguards.selfTest = selfTest
        dependencies.safeguards.earliest = ClockCheck.ofThisBuild.earliest
        dependencies.safeguards.trail = try await AuditTrail.open(
            configuration.audit, now: sources.now, readiness: readiness, metrics: metrics.audit, log: log)
        let store = try openStore(configuration.store, log: log)
        dependencies.subscribers.store = store
        let forwardClient: ForwardClient?
        do throws(Diagnostic) {
            forwardClient = store.isConfigured ? try ForwardClient(configuration.forwarding) : nil
        } catch { throw ConfigurationError(problems: [error]) }
        let jwksRefresher = JWKSRefresher(
            issuers: { [policy = reloader.policy] in policy.snapshot.callers.userIssuers },
            keys: dependencies.front.userKeys,
            source: KeySetReader(), readiness: readiness, log: log
        )
        let budget = MemoryBudget(limit: configuration.memoryLimit)
        dependencies.front.budget = budget
        let settings = configuration.appStore
        let ocspClient = settings.usesOCSP ? OCSPClient() : nil
        let trust = AppStoreTrust(
            settings, transport: ocspClient?.transport, now: sources.now, metrics: metrics.sync, log: log)
        dependencies.subscribers.trust = trust
        let trail = dependencies.safeguards.trail
        let asking: AppStoreSync?
        do throws(Diagnostic) {
            asking = try configuration.appStoreAPI.map { settings throws(Diagnostic) in
                try AppStoreSync(
                    settings, policy: reloader.policy, trust: trust, store: store, trail: trail, now: sources.now,
                    uptime: sources.uptime, readiness: readiness, metrics: metrics.sync, log: log)
            }
        } catch { throw ConfigurationError(problems: [error]) }
        dependencies.subscribers.refresher = asking?.refresher
        let catalogueWatch: CatalogueWatch?
        do throws(Diagnostic) {
            catalogueWatch = try configuration.appStoreConnect.map { settings throws(Diagnostic) in
                try CatalogueWatch(
                    settings, policy: reloader.policy, store: store,
                    pacing: Pacing(now: sources.now, uptime: sources.uptime), readiness: readiness,
                    metrics: metrics.sync, log: log)
            }
        } catch { throw ConfigurationError(problems: [error]) }
        dependencies.subscribers.readsAppStoreConnect = catalogueWatch != nil
        dependencies.links.origin = configuration.links.origin?.text
        do throws(OpenSSLError) {
            dependencies.links.key = try configuration.links.key.map { secret throws(OpenSSLError) in
                try LinkKey(secret)
            }
        } catch {
            throw ConfigurationError(
                problems: [
                    Diagnostic("\(Settings.linksKey.variable) cannot be used (\(error))", hint: "report this as a bug")
                ])
        }
        dependencies.retentionDeadline = configuration.retentionDeadline
        let application = Application(dependencies)
        let console: (responder: any Responder, services: [any Service])?
        do throws(Diagnostic) {
            console = try configuration.console.map { settings throws(Diagnostic) in
                try makeConsole(application, settings)
            }
        } catch { throw ConfigurationError(problems: [error]) }
        let healthMonitor = HealthMonitor(
            selfTest: selfTest, keys: application.keyHealth, retention: application.retentionHealth,
            trail: dependencies.safeguards.trail, clock: .ofThisBuild,
            now: sources.now, readiness: readiness, metrics: metrics,
            refusals: application.refusals, log: log)
        let server = HTTPServer(
            listeners: listeners(configuration, application, console?.responder), certificate: reloader.certificate,
            readiness: readiness, metrics: metrics.connections, budget: budget,
            sources: ConnectionSources { [policy = reloader.policy] in
                let policy = policy.snapshot
                return ConnectionSources.Rules(limits: policy.limits, proxies: policy.proxies)
            }
        ) { ports in onListening(ListeningPorts(ports, of: configuration), store) }
        let watch = AppStoreWatch(trust, client: ocspClient, settings: settings, readiness: readiness, log: log)
        let storeWatch = StoreWatch(
            store, now: sources.now, readiness: readiness, metrics: metrics.sync, log: log)
        let ledgerWatch = LedgerWatch(
            store, policy: reloader.policy, now: sources.now, readiness: readiness, metrics: metrics.sync, log: log)
        let reportWorker = ReportWorker(
            store, policy: reloader.policy, background: BackgroundThreads.shared.reading, now: sources.now,
            metrics: metrics.sync, log: log)
        let eventWorker = EventWorker(
            store, policy: reloader.policy, background: BackgroundThreads.shared.reading, now: sources.now,
            metrics: metrics.sync, log: log)
        // `storeWatch` closes the store, after the services that follow it have stopped.
        var services: [any Service] = [
            reloader, jwksRefresher, healthMonitor, watch, storeWatch, ledgerWatch, reportWorker, eventWorker,
            application.detachedWork, application.linkVisits,
        ]
        if let forwardClient {
            services.append(
                ForwardingWorker(
                    store, client: forwardClient, now: sources.now, readiness: readiness, metrics: metrics.sync,
                    log: log))
        }
        if let catalogueWatch { services.append(catalogueWatch) }
        return services + (console?.services ?? []) + (asking?.services ?? []) + [server]
    }

    private static func listeners(
        _ configuration: Configuration, _ application: Application,
        _ console: (any Responder)?
    ) -> [Listener] {
        func router(_ role: ListenerRole, at address: ListeningAddress) -> Router {
            application.router(for: role, isOnLoopback: LoopbackAddress.isLoopback(address.host))
        }
        var (role, connections) = (ListenerRole.all, maximumConnections)
        var others: [Listener] = []
        if let address = configuration.metricsAddress {
            role.remove(.metrics)
            connections -= maximumMetricsConnections
            others.append(
                Listener(
                    address, sharesPort: configuration.sharesPort, maximumConnections: maximumMetricsConnections,
                    isPlain: true, responder: router(.metricsOnly, at: address)))
        }
        if let address = configuration.notificationsAddress {
            role.remove(.notifications)
            let ofNotifications = min(maximumNotificationConnections, connections / 4)
            connections -= ofNotifications
            others.append(
                Listener(
                    address, sharesPort: configuration.sharesPort, maximumConnections: ofNotifications,
                    responder: router(.notifications, at: address)))
        }
        if let address = configuration.links.address {
            let ofLinks = min(maximumLinkConnections, connections / 4)
            connections -= ofLinks
            others.append(
                Listener(
                    address, sharesPort: configuration.sharesPort, maximumConnections: ofLinks,
                    responder: router(.links, at: address)))
        }
        if let console, let address = configuration.console?.address {
            connections -= maximumConsoleConnections
            others.append(
                Listener(
                    address, sharesPort: configuration.sharesPort, maximumConnections: maximumConsoleConnections,
                    responder: console))
        }
        let main = Listener(
            configuration.address, sharesPort: configuration.sharesPort, maximumConnections: connections,
            responder: router(role, at: configuration.address))
        return [main] + others
    }

    /// Opens the store. A store that may become available later does not prevent the service from starting.
    /// - Throws: a problem, if the operator must repair the store.
    private static func openStore(
        _ settings: StoreSettings?, log: Logger
    ) throws(ConfigurationError) -> CurrentStore {
        guard let settings else { return CurrentStore(nil, log: log) }
        do throws(StoreError) {
            return CurrentStore(settings, store: try settings.location.open(), log: log)
        } catch {
            guard error.isRetryable else { throw ConfigurationError(problems: [error.diagnostic]) }
            return CurrentStore(settings, fault: error, log: log)
        }
    }

    /// The connection limit for notifications. The App Store keeps few connections open.
    private static let maximumNotificationConnections = 512
    /// The connection limit for the pages of links. Everybody who gets a mail may open one at the same time.
    private static let maximumLinkConnections = 2048
    /// The connection limit for metrics: enough for Prometheus and a few people, but small enough to leave most file
    /// descriptors for offers.
    private static let maximumMetricsConnections = 32

    /// The connection limit for the console. A browser keeps up to six connections open.
    private static let maximumConsoleConnections = 128

    /// The connection limit: the descriptor limit minus a reserve for files and for connections that are opening or
    /// closing, at most 10,000.
    private static var maximumConnections: Int {
        let descriptors = offer_descriptor_limit()
        return min(10_000, descriptors - min(100, descriptors / 2))
    }
}
