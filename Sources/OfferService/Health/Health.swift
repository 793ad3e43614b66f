import FoundationEssentials
import OfferAudit
package import OfferConfiguration
package import OfferCore
import OfferEligibility
import OfferHTTP
import OfferTelemetry
import SubscriberSync

/// The answers to liveness and readiness probes. A ready process should receive requests.
package struct Health: Sendable {
    private let policy: CurrentPolicy
    private let keys: KeyHealth
    private let certificate: CurrentCertificate
    private let telemetry: Telemetry
    private let safeguards: Safeguards
    private let now: @Sendable () -> Timestamp
    private let gatekeeper: Gatekeeper
    private let store: CurrentStore
    private let queriesAppStore: Bool
    private let readsAppStoreConnect: Bool

    init(
        policy: CurrentPolicy, keys: KeyHealth, certificate: CurrentCertificate, telemetry: Telemetry,
        safeguards: Safeguards, now: @escaping @Sendable () -> Timestamp, gatekeeper: Gatekeeper,
        store: CurrentStore, queriesAppStore: Bool, readsAppStoreConnect: Bool
    ) {
        self.policy = policy
        self.keys = keys
        self.certificate = certificate
        self.telemetry = telemetry
        self.safeguards = safeguards
        self.now = now
        self.gatekeeper = gatekeeper
        self.store = store
        self.queriesAppStore = queriesAppStore
        self.readsAppStoreConnect = readsAppStoreConnect
    }

    /// `GET /health/live`.
    var live: HTTPResponse {
        var writer = JSONWriter()
        writer.member("status", "live")
        return HTTPResponse(body: writer.finish())
    }

    /// `GET /health/ready`: 200 while the service can sign everything that it should, otherwise 503.
    /// - Parameter showsDetails: true to show the keys and problems to every client whose request is not misdirected;
    ///   false to show them only to clients that may read the metrics. An invalid token only hides the details. If it
    ///   were refused, every instance would appear down on the day a probe's token expires.
    func ready(
        for request: HTTPRequest, _ admission: Admission, showsDetails: Bool
    ) throws(Problem) -> Endpoint.Answer {
        let policy = admission.policy
        let states = states(under: policy)
        let problems = problems
        let isTrusted =
            !admission.isMisdirected && (showsDetails || gatekeeper.has(.metrics, request, under: policy))
        let report = HealthReport(
            states: states,
            details: isTrusted
                ? HealthReport.Details(
                    activeKeys: policy.ring.active, problems: problems, intakes: telemetry.metrics.sync.figures.intakes)
                : nil)
        if let refusal = refusal(states) {
            throw refusal.with { $0.members = JSONWriter.members(report.write) }
        }
        var writer = JSONWriter()
        writer.member("status", problems.isEmpty && !states.values.contains(.degraded) ? "ready" : "degraded")
        report.write(to: &writer)
        return Endpoint.Answer(HTTPResponse(body: writer.finish()))
    }

    /// True if the service would answer a readiness probe with 200.
    var isReady: Bool { refusal(states(under: policy.snapshot)) == nil }

    /// True if the audit trail can be written; nil if there is none.
    var isAuditWritable: Bool? { safeguards.trail.map { $0.fault == nil } }

    /// All current problems, including a hanging disk and a certificate that is about to expire.
    package var problems: [Diagnostic] {
        telemetry.readiness.problems + keys.problems(under: policy.snapshot.ring)
            + [telemetry.readiness.hangingDisk, certificate.problem(at: .now)].compactMap(\.self)
    }

    /// The expiry time of the TLS certificate, in Unix time; nil without TLS.
    var certificateExpiry: Double? { certificate.expiry?.timeIntervalSince1970 }

    /// Returns the state of each check, by its name in readiness probes.
    package func checks(under policy: Policy) -> [String: HealthReport.State] {
        Dictionary(uniqueKeysWithValues: states(under: policy).map { ($0.key.rawValue, $0.value) })
    }

    private func states(under policy: Policy) -> [HealthReport.Check: HealthReport.State] {
        Dictionary(uniqueKeysWithValues: HealthReport.Check.allCases.map { ($0, state(of: $0, under: policy)) })
    }

    private func state(of check: HealthReport.Check, under policy: Policy) -> HealthReport.State {
        switch check {
        case .keys:
            guard keys.isGood(under: policy.ring) else { return .failed }
            return telemetry.readiness.hasProblem(from: .keys) || telemetry.readiness.hangingDisk != nil
                ? .degraded : .ok
        case .selfTest:
            guard let selfTest = safeguards.selfTest else { return .off }
            return selfTest.isPassed ? .ok : .failed
        case .audit:
            guard let trail = safeguards.trail else { return .off }
            guard trail.fault == nil else { return .failed }
            return telemetry.readiness.hasProblem(from: .audit) ? .degraded : .ok
        case .clock:
            guard now() >= safeguards.earliest else { return .failed }
            return telemetry.readiness.hasProblem(from: .clock) ? .degraded : .ok
        case .catalogue:
            guard policy.catalogue != nil else { return .off }
            return telemetry.readiness.isNewestInForce ? .ok : .degraded
        case .appStore: return telemetry.readiness.hasProblem(from: .appStore) ? .degraded : .ok
        case .appStoreAPI:
            guard queriesAppStore else { return .off }
            return telemetry.readiness.hasProblem(from: .appStoreAPI) ? .degraded : .ok
        case .appStoreConnect:
            guard readsAppStoreConnect else { return .off }
            return telemetry.readiness.hasProblem(from: .appStoreConnect) ? .degraded : .ok
        case .store:
            guard store.isConfigured else { return .off }
            return store.isHealthy && !telemetry.readiness.hasProblem(from: .store) ? .ok : .degraded
        case .notifications:
            guard store.isConfigured else { return .off }
            return telemetry.readiness.hasProblem(from: .notifications) ? .degraded : .ok
        case .ledger:
            guard store.isConfigured, policy.catalogue?.apps.isEmpty == false else { return .off }
            return telemetry.readiness.hasProblem(from: .ledger) ? .degraded : .ok
        case .retention:
            guard policy.catalogue?.apps.values.contains(where: { !$0.rules.retention.isEmpty }) == true else {
                return .off
            }
            return telemetry.readiness.hasProblem(from: .retention) ? .degraded : .ok
        }
    }

    /// Returns the first problem that applies: stopping, the clock, the audit trail, or any failed check; nil if the
    /// service is ready.
    private func refusal(_ states: [HealthReport.Check: HealthReport.State]) -> Problem? {
        if telemetry.readiness.isStopping { return .stopping }
        if states[.clock] == .failed { return .clockWrong }
        if states[.audit] == .failed { return .auditUnavailable }
        return states.values.contains(.failed) ? .notReady : nil
    }
}
