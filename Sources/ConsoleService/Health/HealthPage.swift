import OfferConfiguration
import OfferConsole
import OfferCore
import OfferEligibility
import OfferService
import SubscriberSync

/// `GET /health`: the checks of readiness probes in words, the problems, and the keys.
struct HealthPage: Sendable {
    let health: Health
    let keys: CurrentPolicy
    let metrics: ServiceMetrics
    /// Returns the comparison of each app's catalogue with App Store Connect.
    let reports: @Sendable () -> [CatalogueReport]

    var route: ConsoleRoute { .page("/health", for: .roles(ConsoleSection.health.roles), [], answer) }

    @Sendable private func answer(_ request: ConsoleRequest) async throws(ConsoleRefusal) -> ConsoleAnswer {
        let ring = request.policy.ring
        let (standings, lastSignatures) = (keys.standings, metrics.lastSignatures)
        let reports = reports()
        let states = health.checks(under: request.policy)
        let view = HealthView(
            frame: request.frame(at: PageAddress("/health")), now: request.now,
            checks: HealthCheck.allCases.map { check in
                (check, states[check.rawValue].map(HealthView.State.init) ?? .off)
            },
            problems: health.problems.map { "\($0.error). To fix it: \($0.hint)." },
            keys: ring.keyIDs.compactMap { id in
                guard let key = ring.key(id), let state = ring.state(of: id) else { return nil }
                return HealthView.Key(
                    keyID: id.description, fingerprint: key.pair.fingerprint,
                    state: ring.isOutOfService(id) ? "out of service" : "\(state)",
                    since: standings[id]?.since, isSinceStart: standings[id]?.isSinceStart ?? false,
                    lastSignature: lastSignatures[id])
            },
            findings: reports.flatMap { $0.findings ?? [] }.map { finding in
                HealthView.Finding(
                    subject: finding.subject, sentence: finding.sentence, hint: finding.hint,
                    isError: finding.severity == .error)
            }, catalogueReadAt: reports.filter { $0.findings != nil }.compactMap(\.readAt).min())
        return .page(view.html)
    }
}

extension HealthView.State {
    fileprivate init(_ state: HealthReport.State) {
        self =
            switch state {
            case .ok: .ok
            case .degraded: .degraded
            case .failed: .failed
            case .off: .off
            }
    }
}
