package import Logging
package import OfferAudit
package import OfferConfiguration
package import OfferCore
import OfferEligibility
package import OfferHTTP
package import OfferIdentity
import OfferTelemetry
package import SubscriberSync

/// The parts of the service that answer requests, wired together.
///
/// `serve`, `sign`, the tests, the benchmark and the fuzzers all use this wiring.
package struct Application: Sendable {
    /// The inputs of an application. All inputs except the first three have defaults that suit tests.
    package struct Dependencies {
        package var policy: CurrentPolicy
        package var sources: SystemInputs
        package var telemetry: Telemetry
        package var safeguards = Safeguards()
        package var subscribers = Subscribers()
        package var front = Front()
        package var links = Links()
        /// The time limit for a request for a retention message.
        package var retentionDeadline = Settings.retentionDeadline.defaultValue

        package init(policy: CurrentPolicy, sources: SystemInputs, log: Logger) {
            self.policy = policy
            self.sources = sources
            telemetry = Telemetry(log: log)
        }
    }

    /// The sources of data about subscribers.
    package struct Subscribers: Sendable {
        /// The verifier of App Store data; nil to trust Apple's roots without OCSP.
        package var trust: AppStoreTrust?
        /// nil if there is no database of subscribers.
        package var store: CurrentStore?
        /// Refreshes customers from the App Store; nil if it is not queried.
        package var refresher: RefreshQueue?
        /// True if the catalogue is compared with App Store Connect.
        package var readsAppStoreConnect = false
    }

    /// The dependencies of campaign links.
    package struct Links: Sendable {
        /// nil if there are no personal links.
        package var key: LinkKey?
        /// The scheme and host of links; nil if they are unknown.
        package var origin: String?
    }

    /// The dependencies of the application on the server around it.
    package struct Front: Sendable {
        package var certificate = CurrentCertificate(nil)
        /// The key sets of identity providers.
        package var userKeys = CurrentUserKeys()
        /// The memory for requests and responses; nil without a server.
        package var budget: MemoryBudget?
        /// The maximum time that a search of the audit trail waits for a thread.
        package var searchWait = Duration.seconds(10)
        /// Runs the composition of log lines about refusals; nil to use a separate thread.
        package var composeRefusals: RefusalLog.Run?
    }

    package let signer: OfferSigner
    let signing: SigningEndpoints
    let idempotent: IdempotentAnswers
    let events: OfferEventsEndpoint
    package let keyHealth: KeyHealth
    package let refusals: RefusalLog
    let explanations: ExplanationEndpoint
    /// The maximum time that a search of the audit trail waits for a thread.
    package let searchWait: Duration
    package let store: CurrentStore
    let intake: NotificationIntake
    let notifications: NotificationEndpoint
    let linkPages: LinkPages
    package let linkVisits: LinkVisitCounter
    let retention: RetentionEndpoint
    package let retentionHealth: RetentionHealth
    /// The tasks that may outlast their requests. They end before the store is closed.
    package let detachedWork = DetachedWork(maximumDetachedWork)
    package let directory: CustomerDirectory
    let customers: CustomerEndpoints
    let worklists: WorklistEndpoint
    let purchases: PurchasesEndpoint
    package let desk: GrantDesk
    let grants: GrantEndpoints
    package let reports: ReportDesk
    let reportEndpoint: ReportEndpoint
    let subscriptionReportEndpoint: SubscriptionReportEndpoint
    /// The maximum number of decisions about retention messages under way, including those whose requests were already
    /// answered.
    private static let maximumDetachedWork = 512
    package let health: Health
    package let policy: CurrentPolicy
    /// nil if there is no audit trail.
    package let trail: AuditTrail?
    package let limits: RequestLimits
    package let now: @Sendable () -> Timestamp
    let metricsPage: MetricsPage
    private let gatekeeper: Gatekeeper
    package let metrics: ServiceMetrics
    package let log: Logger

    package init(_ dependencies: Dependencies) {
        let (policy, sources, front) = (dependencies.policy, dependencies.sources, dependencies.front)
        let (telemetry, safeguards) = (dependencies.telemetry, dependencies.safeguards)
        let refresher = dependencies.subscribers.refresher
        log = telemetry.log
        self.policy = policy
        trail = safeguards.trail
        now = sources.now
        metrics = telemetry.metrics
        store = dependencies.subscribers.store ?? CurrentStore(nil, log: log)
        refusals = RefusalLog(log: log, uptime: sources.uptime, run: front.composeRefusals)
        limits = RequestLimits(metrics: metrics, log: log, uptime: sources.uptime)
        gatekeeper = Gatekeeper(
            policy: policy, authenticator: Authenticator(userKeys: front.userKeys, now: sources.now), limits: limits,
            recordsAddresses: safeguards.trail?.recordsAddresses ?? false)
        let trust =
            dependencies.subscribers.trust
            ?? AppStoreTrust(AppStoreSettings(), now: sources.now, metrics: metrics.sync, log: log)
        directory = CustomerDirectory(store: store, refresher: refresher, now: sources.now)
        customers = CustomerEndpoints(
            store: store, directory: directory, trail: safeguards.trail, metrics: metrics, now: sources.now)
        worklists = WorklistEndpoint(
            store: store, trail: safeguards.trail, metrics: metrics, now: sources.now)
        desk = GrantDesk(
            store: store, directory: directory, makeNonce: sources.makeNonce, metrics: metrics,
            isAudited: safeguards.trail != nil)
        grants = GrantEndpoints(desk: desk, trail: safeguards.trail, now: sources.now)
        reports = ReportDesk(store: store)
        reportEndpoint = ReportEndpoint(desk: reports, now: sources.now)
        subscriptionReportEndpoint = SubscriptionReportEndpoint(desk: reports, now: sources.now)
        keyHealth = KeyHealth(policy: policy, metrics: metrics, log: log)
        signer = OfferSigner(
            policy: policy, keyHealth: keyHealth, safeguards: safeguards, sources: sources, metrics: metrics,
            refusals: refusals, log: log)
        let decider = OfferDecider(
            signer: signer, store: store, refresher: refresher, linkKey: dependencies.links.key, log: log)
        signing = SigningEndpoints(
            signer: signer, decider: decider, limits: limits, proofs: ProofVerifier(trust: trust, now: sources.now),
            log: log)
        purchases = PurchasesEndpoint(signing: signing, now: sources.now)
        idempotent = IdempotentAnswers(store: store, policy: policy, sources: sources, metrics: metrics)
        events = OfferEventsEndpoint(store: store, metrics: metrics, now: sources.now)
        searchWait = front.searchWait
        explanations = ExplanationEndpoint(
            threads: .shared, waitLimit: front.searchWait, limits: limits, now: sources.now, log: log)
        health = Health(
            policy: policy, keys: keyHealth, certificate: front.certificate, telemetry: telemetry,
            safeguards: safeguards, now: sources.now, gatekeeper: gatekeeper, store: store,
            queriesAppStore: refresher != nil,
            readsAppStoreConnect: dependencies.subscribers.readsAppStoreConnect)
        metricsPage = MetricsPage(metrics: metrics, health: health, budget: front.budget, trust: trust, store: store)
        intake = NotificationIntake(store: store, trust: trust, now: sources.now, log: log)
        notifications = NotificationEndpoint(
            store: store, intake: intake, refresher: refresher, limits: limits, metrics: metrics.sync, log: log)
        linkVisits = LinkVisitCounter(store: store, log: log)
        linkPages = LinkPages(
            key: dependencies.links.key, origin: dependencies.links.origin, visits: linkVisits, metrics: metrics,
            now: sources.now)
        retentionHealth = RetentionHealth(uptime: sources.uptime, readiness: telemetry.readiness, log: log)
        retention = RetentionEndpoint(
            decider: RetentionDecider(decider), uptime: sources.uptime,
            reader: RetentionRequestReader(trust: trust, apps: ConfiguredApps(log: log), now: sources.now),
            limits: limits, work: detachedWork, deadline: dependencies.retentionDeadline, metrics: metrics,
            health: retentionHealth, log: log)
    }

    /// Returns the responder for a listener with this role.
    /// - Parameter isOnLoopback: true if the listener has a loopback address.
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
