package import OfferCore

/// What `/metrics` answers: what ``ServiceMetrics`` has counted, and what can be looked up at that moment.
package struct MetricsPage: Sendable {
    private let metrics: ServiceMetrics
    private let setup: CurrentSetup
    private let health: Health
    private let authenticator: Authenticator
    private let limiter: Limiter
    private let versions: BuildVersions
    // With thousands of connections it takes milliseconds to count the descriptors.
    private let process = PerSecond { _ in ProcessFigures() }

    package init(
        metrics: ServiceMetrics, setup: CurrentSetup, health: Health, authenticator: Authenticator, limiter: Limiter,
        versions: BuildVersions
    ) {
        self.metrics = metrics
        self.setup = setup
        self.health = health
        self.authenticator = authenticator
        self.limiter = limiter
        self.versions = versions
    }

    /// To somebody who asks where offers are signed as well. Not refused for being late: it is cheap, and wanted most when
    /// there is too much to do.
    func answer(_ request: IncomingRequest) throws(Problem) -> Answer {
        let setup = setup.snapshot
        let requester = try authenticator.requester(of: request, under: setup, needing: .metrics)
        try limiter.admit(requester, under: setup.limits, request.context)
        return answer(under: setup)
    }

    /// To somebody who asks at the address that is for metrics alone, where no token is asked for.
    func openAnswer(_ request: IncomingRequest) throws(Problem) -> Answer {
        let setup = setup.snapshot
        try limiter.admitAddress(of: request, under: setup)
        return answer(under: setup)
    }

    private func answer(under setup: Setup) -> Answer {
        var text = ExpositionText()
        for metric in Metric.all {
            text.begin(metric)
            metrics.write(metric, to: &text)
            for (labels, value) in samples(of: metric, under: setup) {
                text.sample(metric.name, metric.labels, labels, value)
            }
        }
        return Answer(mediaType: .metrics, body: text.bytes)
    }

    /// Of a metric that is looked up and not counted.
    private func samples(of metric: Metric, under setup: Setup) -> [(labels: [String], value: Double)] {
        switch metric {
        case .keyState: states(of: setup.ring)
        case .ready: [([], health.isReady ? 1 : 0)]
        case .auditWritable: one(health.isAuditWritable.map { $0 ? 1 : 0 })
        case .setupProblems: [([], Double(health.problems.count))]
        case .certificateExpiry: one(health.certificateExpiry)
        case .processCPU: one(process.now?.cpuSeconds)
        case .processMemory: one(process.now?.residentBytes)
        case .processOpenDescriptors: one(process.now.map { Double($0.openDescriptors) })
        case .processMaximumDescriptors: one(process.now.map { $0.maximumDescriptors.map(Double.init) ?? .infinity })
        case .processStart: one(process.now?.start)
        case .build: [([versions.program, versions.swift, versions.openSSL], 1)]
        default: []
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
