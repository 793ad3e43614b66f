import AppStoreData
import NIOConcurrencyHelpers
import NIOCore
import OfferConfiguration
import OfferCore
import OfferEligibility
import OfferHTTP
import OfferTelemetry
import SubscriberStore
import SubscriberSync

/// `GET /metrics`: the metrics counted in ``ServiceMetrics``, and those looked up on request.
struct MetricsPage: Sendable {
    private let metrics: ServiceMetrics
    private let health: Health
    private let budget: MemoryBudget?
    private let trust: AppStoreTrust
    private let store: CurrentStore
    // Cached, because counting the descriptors takes milliseconds when there are thousands of connections.
    private let process = CachedPerSecond { _ in ProcessFigures() }
    private let latest = NIOLockedValueBox<(began: NIODeadline, body: HTTPResponse.SharedBody)?>(nil)

    init(metrics: ServiceMetrics, health: Health, budget: MemoryBudget?, trust: AppStoreTrust, store: CurrentStore) {
        self.metrics = metrics
        self.health = health
        self.budget = budget
        self.trust = trust
        self.store = store
    }

    /// A page answers all requests that were read before its creation. A client that pipelines requests and reads
    /// nothing therefore keeps one page in memory, not one per request.
    func answer(_ request: HTTPRequest, _ admission: Admission) -> Endpoint.Answer {
        let body = latest.withLockedValue { latest in
            if let latest, latest.began > request.received { return latest.body }
            let began = NIODeadline.now()
            let body = HTTPResponse.SharedBody(text(under: admission.policy).bytes)
            latest = (began, body)
            return body
        }
        return Endpoint.Answer(HTTPResponse(mediaType: .metrics, sharing: body))
    }

    private func text(under policy: Policy) -> ExpositionText {
        var text = ExpositionText()
        for metric in Metric.all {
            text.begin(metric)
            metrics.write(metric, to: &text)
            for (labels, value) in samples(of: metric, under: policy) {
                text.sample(metric.name, metric.labels, labels, value)
            }
        }
        return text
    }

    /// Returns the samples of a metric that is looked up rather than counted.
    private func samples(of metric: Metric, under policy: Policy) -> [(labels: [String], value: Double)] {
        switch metric {
        case .keyState: states(of: policy.ring)
        case .ready: [([], health.isReady ? 1 : 0)]
        case .auditWritable: one(health.isAuditWritable.map { $0 ? 1 : 0 })
        case .setupProblems: [([], Double(health.problems.count))]
        case .certificateExpiry: one(health.certificateExpiry)
        case .unansweredCertificates: one(trust.checker.map { Double($0.problems.count) })
        case .revokedCertificates: one(trust.checker.map { _ in Double(trust.verifier.knownChains.revokedCount) })
        case .lastNotification: ofIntakes { $0.lastReceivedAt.map { Double($0.milliseconds) / 1000 } }
        case .notificationLag: ofIntakes { $0.lag }
        case .subscriptions: ofIntakes { Double($0.subscriptions) }
        case .recoveredUntil: ofSyncedApps { $0.recoveredUntil.map { Double($0.milliseconds) / 1000 } }
        case .subscriptionsDue: ofSyncedApps { Double($0.due) }
        case .forwardsPending: ofReceivers { Double($0.map(\.pending).reduce(0, +)) }
        case .forwardsDead: ofReceivers { Double($0.map(\.dead).reduce(0, +)) }
        case .oldestForward: ofReceivers { $0.compactMap(\.oldestPending).min().map { Double($0.milliseconds) / 1000 } }
        case .storeUp: one(store.isConfigured ? (store.isHealthy ? 1 : 0) : nil)
        case .storeChanges: one(store.store.map { Double($0.counts.changes) })
        case .storeCommits: one(store.store.map { Double($0.counts.commits) })
        case .storeRoundTrips: one(store.store.map { Double($0.counts.roundTrips) })
        case .storeRetries: one(store.store.map { Double($0.counts.retries) })
        case .unexplainedRedemptions:
            (store.unexplainedRedemptions ?? [:]).sorted { $0.key.rawValue < $1.key.rawValue }
                .map { (labels: [$0.key.rawValue], value: Double($0.value)) }
        case .memoryUsed: one(budget.map { Double($0.usedBytes) })
        case .memoryBudget: one(budget.map { Double($0.limit) })
        case .processCPU: one(process.now?.cpuSeconds)
        case .processMemory: one(process.now?.residentBytes)
        case .processOpenDescriptors: one(process.now.map { Double($0.openDescriptors) })
        case .processMaximumDescriptors: one(process.now.map { $0.maximumDescriptors.map(Double.init) ?? .infinity })
        case .processStart: one(process.now?.start)
        case .build: [([BuildVersions.program, BuildVersions.swift, BuildVersions.openSSL], 1)]
        default: []
        }
    }

    private func one(_ value: Double?) -> [(labels: [String], value: Double)] { value.map { [([], $0)] } ?? [] }

    private func ofIntakes(_ value: (Intake) -> Double?) -> [(labels: [String], value: Double)] {
        store.intakes.compactMap { intake in
            value(intake).map {
                (labels: [intake.app.bundleID.text.description, intake.app.environment.rawValue], value: $0)
            }
        }
    }

    private func ofSyncedApps(_ value: (SyncStatus) -> Double?) -> [(labels: [String], value: Double)] {
        store.syncStatus.compactMap { app, figures in
            value(figures).map { (labels: [app.bundleID.text.description, app.environment.rawValue], value: $0) }
        }.sorted { $0.labels.lexicographicallyPrecedes($1.labels) }
    }

    /// Looks up a value for each receiver. Receivers with the same name share one value.
    private func ofReceivers(_ value: ([Receiver]) -> Double?) -> [(labels: [String], value: Double)] {
        Dictionary(grouping: store.receivers) { ReceiverName.of($0.url) }.sorted { $0.key < $1.key }
            .compactMap { name, receivers in value(receivers).map { (labels: [name], value: $0) } }
    }

    private func states(of ring: KeyRing) -> [(labels: [String], value: Double)] {
        ring.keyIDs.flatMap { id in
            let state = ring.isOutOfService(id) ? "out_of_service" : ring.state(of: id)?.rawValue
            return (KeyState.allCases.map(\.rawValue) + ["out_of_service"]).map {
                (labels: [id.description, $0], value: $0 == state ? 1.0 : 0.0)
            }
        }
    }
}
