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

/// `GET /metrics`: the metrics counted in ``ServiceMetrics``, and the metrics looked up on request.
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

    /// Answers with the latest page if it was created after the request was read; otherwise creates a new page. A
    /// client that pipelines requests and reads nothing therefore keeps one page in memory, not one per request.
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
        case .tokenWaiting: one(policy.ring.waitingForThreads.map(Double.init))
        case .ready: [([], health.isReady ? 1 : 0)]
        case .auditWritable: one(health.isAuditWritable.map { $0 ? 1 : 0 })
        case .setupProblems: [([], Double(health.problems.count))]
        case .certificateExpiry: one(health.certificateExpiry)
        case .unansweredCertificates: one(trust.checker.map { Double($0.problems.count) })
        case .revokedCertificates: one(trust.checker.map { _ in Double(trust.verifier.knownChains.revokedCount) })
        case .storeUp: one(store.isConfigured ? (store.isHealthy ? 1 : 0) : nil)
        case .storeChanges: one(store.store.map { Double($0.counts.changes) })
        case .storeCommits: one(store.store.map { Double($0.counts.commits) })
        case .storeRoundTrips: one(store.store.map { Double($0.counts.roundTrips) })
        case .storeRetries: one(store.store.map { Double($0.counts.retries) })
        case .memoryUsed: one(budget.map { Double($0.usedBytes) })
        case .memoryBudget: one(budget.map { Double($0.limit) })
        case .processCPU: one(process.now?.cpuSeconds)
        case .processMemory: one(process.now?.residentBytes)
        case .processOpenDescriptors: one(process.now.map { Double($0.openDescriptors) })
        case .processMaximumDescriptors: one(process.now.map { $0.maximumDescriptors.map(Double.init) ?? .infinity })
        case .processStart: one(process.now?.start)
        case .build: [([BuildVersions.program, BuildVersions.swift, BuildVersions.openSSL], 1)]
        default: metrics.sync.samples(of: metric)
        }
    }

    private func one(_ value: Double?) -> [(labels: [String], value: Double)] { value.map { [([], $0)] } ?? [] }

    private func states(of ring: KeyRing) -> [(labels: [String], value: Double)] {
        ring.keyIDs.flatMap { id in
            let state = ring.isOutOfService(id) ? "out_of_service" : ring.state(of: id)?.rawValue
            return (KeyState.allCases.map(\.rawValue) + ["out_of_service"]).map {
                (labels: [id.description, $0], value: $0 == state ? 1.0 : 0.0)
            }
        }
    }
}
