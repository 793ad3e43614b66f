package import Logging
package import OfferAudit
package import OfferConfiguration
package import OfferCore
import OfferEligibility
package import OfferHTTP
package import OfferIdentity
package import OfferTelemetry
package import SubscriberSync

/// The parts of the service that answer requests, wired together.
///
/// `serve`, `sign`, the tests, the benchmark and the fuzzers all use this wiring.
package struct Application: Sendable {
    /// The inputs of an application. All but the first three have defaults that suit tests.
    package struct Dependencies {
        package var policy: CurrentPolicy
        package var sources: SystemInputs
        package var log: Logger
        package var metrics = ServiceMetrics()
        package var readiness = Readiness()
        package var certificate = CurrentCertificate(nil)
        /// The key sets of identity providers.
        package var userKeys = CurrentUserKeys()
        /// The memory for requests and responses; nil without a server.
        package var budget: MemoryBudget?
        /// The verifier of App Store data; nil for Apple's roots without OCSP.
        package var trust: AppStoreTrust?
        /// The store of subscribers; nil if none are remembered.
        package var store: CurrentStore?
        /// Refreshes unknown customers from the App Store; nil if it is not queried.
        var refresher: RefreshQueue?
        /// The time limit for a request for a retention message.
        package var retentionDeadline = Settings.retentionDeadline.defaultValue
        /// nil if there is no audit trail.
        package var trail: AuditTrail?
        /// nil to skip the self-test of the cryptography.
        package var selfTest: SelfTest?
        /// The earliest time that a correct clock can show.
        package var earliest = Timestamp.min
        /// The maximum time that an explanation waits for a thread.
        package var explanationWait = Duration.seconds(10)
        /// Runs the composition of log lines about refusals; nil for a separate thread.
        package var composeRefusals: RefusalLog.Run?

        package init(policy: CurrentPolicy, sources: SystemInputs, log: Logger) {
            self.policy = policy
            self.sources = sources
            self.log = log
        }
    }

    package let signer: OfferSigner
    let signing: SigningEndpoints
    package let keyHealth: KeyHealth
    package let refusals: RefusalLog
    let explanations: ExplanationEndpoint
    let store: CurrentStore
    let intake: NotificationIntake
    let notifications: NotificationEndpoint
    let retention: RetentionEndpoint
    package let retentionHealth: RetentionHealth
    /// Runs with the service, and stops before the store is closed.
    package let detachedWork = DetachedWork(maximumDetachedWork)
    let customers: CustomerEndpoints
    /// The maximum number of decisions about retention messages under way, including those whose request has been answered.
    private static let maximumDetachedWork = 512
    let health: Health
    let metricsPage: MetricsPage
    private let gatekeeper: Gatekeeper
    private let metrics: ServiceMetrics
    private let log: Logger

    package init(_ dependencies: Dependencies) {
        let (policy, sources, log) = (dependencies.policy, dependencies.sources, dependencies.log)
        self.log = log
        store = dependencies.store ?? CurrentStore(nil, log: log)
        metrics = dependencies.metrics
        refusals = RefusalLog(log: log, uptime: sources.uptime, run: dependencies.composeRefusals)
        let limits = RequestLimits(metrics: metrics, log: log, uptime: sources.uptime)
        gatekeeper = Gatekeeper(
            policy: policy, authenticator: Authenticator(userKeys: dependencies.userKeys, now: sources.now),
            limits: limits, recordsAddresses: dependencies.trail?.recordsAddresses ?? false)
        let trust =
            dependencies.trust
            ?? AppStoreTrust(AppStoreSettings(), now: sources.now, metrics: metrics.sync, log: log)
        customers = CustomerEndpoints(
            store: store, refresher: dependencies.refresher, trail: dependencies.trail, now: sources.now)
        keyHealth = KeyHealth(policy: policy, metrics: metrics, log: log)
        signer = OfferSigner(
            policy: policy, keyHealth: keyHealth, trail: dependencies.trail, selfTest: dependencies.selfTest,
            earliest: dependencies.earliest, sources: sources, metrics: metrics, refusals: refusals, log: log)
        let decider = OfferDecider(signer: signer, store: store, refresher: dependencies.refresher, log: log)
        signing = SigningEndpoints(
            signer: signer, decider: decider, limits: limits, proofs: ProofVerifier(trust: trust, now: sources.now),
            log: log)
        explanations = ExplanationEndpoint(
            threads: .shared, waitLimit: dependencies.explanationWait, limits: limits, now: sources.now, log: log)
        health = Health(
            policy: policy, keys: keyHealth, certificate: dependencies.certificate, readiness: dependencies.readiness,
            trail: dependencies.trail, selfTest: dependencies.selfTest, earliest: dependencies.earliest,
            now: sources.now, gatekeeper: gatekeeper, store: store, queriesAppStore: dependencies.refresher != nil)
        metricsPage = MetricsPage(
            metrics: metrics, health: health, budget: dependencies.budget, trust: trust, store: store)
        intake = NotificationIntake(store: store, trust: trust, now: sources.now, log: log)
        notifications = NotificationEndpoint(
            store: store, intake: intake, limits: limits, metrics: metrics.sync, log: log)
        retentionHealth = RetentionHealth(uptime: sources.uptime, readiness: dependencies.readiness, log: log)
        retention = RetentionEndpoint(
            decider: RetentionDecider(decider), uptime: sources.uptime,
            reader: RetentionRequestReader(trust: trust, apps: ConfiguredApps(log: log), now: sources.now),
            limits: limits, work: detachedWork, deadline: dependencies.retentionDeadline, metrics: metrics,
            health: retentionHealth, log: log)
    }

    /// Returns the responder for a listener with this role.
    /// - Parameter isOnLoopback: whether its address is a loopback address.
    package func router(for role: ListenerRole, isOnLoopback: Bool) -> Router {
        let hostRule: HostRule =
            if isOnLoopback, role == .metricsOnly {
                .thisMachine
            } else if isOnLoopback, role.contains(.offers) {
                .thisMachineWithoutCallers
            } else {
                .any
            }
        return Router(
            endpoints(of: role), hostRule: hostRule, gatekeeper: gatekeeper, metrics: metrics,
            refusals: refusals, log: log)
    }
}
