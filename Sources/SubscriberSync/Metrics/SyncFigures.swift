import OfferConfiguration
package import OfferCore
package import OfferEligibility
import OfferTelemetry
package import SubscriberStore

/// Figures that background work reads from the store every few seconds, for metrics and health.
package struct SyncFigures: Sendable {
    /// The received notifications and stored subscriptions, for each app and environment.
    package var intakes: [Intake] = []
    /// The notifications that are waiting to be forwarded or were given up, for each receiver.
    var receivers: [Receiver] = []
    /// The time since which the most overdue review of a customer is due, for each app and environment with one.
    var oldestReviews: [AppScope: Timestamp] = [:]
    /// The attempts of this process to deliver, by the receiver's name.
    package var deliveries: [String: DeliveryFigures] = [:]
    /// The number of unacknowledged redemptions without an authorisation, by environment; nil if it is unknown.
    package var unexplainedRedemptions: [AppStoreEnvironment: Int]?
    /// The progress of sync with the App Store, for each app and environment.
    var syncStatus: [AppScope: SyncStatus] = [:]
    /// The comparison of each app's catalogue with App Store Connect; empty if there is none.
    package var catalogueReports: [CatalogueReport] = []
}

/// The attempts of this process to deliver to a receiver, since it started.
package struct DeliveryFigures: Sendable {
    /// The time of the last success; nil for none.
    package var lastAt: Timestamp?
    package var failures = 0
}

extension SyncFigures {
    /// Returns the samples of a metric; none if the metric does not show a figure.
    func samples(of metric: Metric) -> [(labels: [String], value: Double)] {
        switch metric {
        case .lastNotification: ofIntakes { $0.lastReceivedAt.map { Double($0.milliseconds) / 1000 } }
        case .notificationLag: ofIntakes { $0.lag }
        case .subscriptions: ofIntakes { Double($0.subscriptions) }
        case .recoveredUntil: ofSyncedApps { $0.recoveredUntil.map { Double($0.milliseconds) / 1000 } }
        case .subscriptionsDue: ofSyncedApps { Double($0.due) }
        case .forwardsPending: ofReceivers { Double($0.map(\.pending).reduce(0, +)) }
        case .forwardsDead: ofReceivers { Double($0.map(\.dead).reduce(0, +)) }
        case .oldestForward: ofReceivers { $0.compactMap(\.oldestPending).min().map { Double($0.milliseconds) / 1000 } }
        case .oldestReview:
            oldestReviews.map { app, time in (labels: app.labels, value: Double(time.milliseconds) / 1000) }
                .sorted { $0.labels.lexicographicallyPrecedes($1.labels) }
        case .catalogueFindings:
            catalogueReports.flatMap { report in
                CatalogueFinding.Severity.allCases.compactMap { severity in
                    report.findings.map { findings in
                        (
                            labels: [report.bundleID.text.description, severity.rawValue],
                            value: Double(findings.count { $0.severity == severity })
                        )
                    }
                }
            }
        case .catalogueRead:
            catalogueReports.compactMap { report in
                report.readAt.map {
                    (labels: [report.bundleID.text.description], value: Double($0.milliseconds) / 1000)
                }
            }
        case .unexplainedRedemptions:
            (unexplainedRedemptions ?? [:]).sorted { $0.key.rawValue < $1.key.rawValue }
                .map { (labels: [$0.key.rawValue], value: Double($0.value)) }
        default: []
        }
    }

    private func ofIntakes(_ value: (Intake) -> Double?) -> [(labels: [String], value: Double)] {
        intakes.compactMap { intake in value(intake).map { (labels: intake.app.labels, value: $0) } }
    }

    private func ofSyncedApps(_ value: (SyncStatus) -> Double?) -> [(labels: [String], value: Double)] {
        syncStatus.compactMap { app, status in value(status).map { (labels: app.labels, value: $0) } }
            .sorted { $0.labels.lexicographicallyPrecedes($1.labels) }
    }

    /// Looks up a value for each receiver. Receivers with the same name share one value.
    private func ofReceivers(_ value: ([Receiver]) -> Double?) -> [(labels: [String], value: Double)] {
        Dictionary(grouping: receivers) { ReceiverName.of($0.url) }.sorted { $0.key < $1.key }
            .compactMap { name, receivers in value(receivers).map { (labels: [name], value: $0) } }
    }
}

extension AppScope {
    fileprivate var labels: [String] { [bundleID.text.description, environment.rawValue] }
}
