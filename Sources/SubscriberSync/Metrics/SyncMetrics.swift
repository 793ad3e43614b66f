package import AppStoreAPI
package import AppStoreConnect
import AppStoreData
import NIOConcurrencyHelpers
import NIOCore
import OfferConfiguration
import OfferCore
package import OfferEligibility
package import OfferTelemetry
package import SubscriberStore

/// The metrics of the work that fills the store or empties its queues.
package final class SyncMetrics: Sendable {
    private let registry: MetricRegistry
    private let latest = NIOLockedValueBox(SyncFigures())
    private let unknownTypes = NIOLockedValueBox<Set<String>>([])
    private let apiSeconds: Histogram
    private let appStoreData: [AppStoreDataSeries: Counter]
    private let appStoreRefusals: [String: Counter]
    private let notifications: [NotificationOutcome: Counter]
    private let reports: [ReportOutcome: Counter]
    private let reviews: [ReviewOutcome: Counter]
    private let events: [CustomerEvent.Kind: Counter]

    /// - Parameter registry: receives the counters.
    package init(_ registry: MetricRegistry) {
        // All counters are created at startup, because a counter that appears with its first increment hides that
        // increment from rate().
        self.registry = registry
        apiSeconds = registry.histogram(.apiSeconds)
        appStoreData = Dictionary(
            uniqueKeysWithValues: AppStoreDataSeries.all.map {
                ($0, registry.counter(.appStoreData, $0.kind, $0.outcome.rawValue))
            })
        appStoreRefusals = Dictionary(
            uniqueKeysWithValues: DataRefusal.codes.map { ($0, registry.counter(.appStoreDataRefusals, $0)) })
        notifications = Dictionary(
            uniqueKeysWithValues: NotificationOutcome.allCases.map {
                ($0, registry.counter(.notifications, $0.rawValue))
            })
        reports = Dictionary(
            uniqueKeysWithValues: ReportOutcome.allCases.map { ($0, registry.counter(.reports, $0.rawValue)) })
        reviews = Dictionary(
            uniqueKeysWithValues: ReviewOutcome.allCases.map { ($0, registry.counter(.reviews, $0.rawValue)) })
        events = Dictionary(
            uniqueKeysWithValues: CustomerEvent.Kind.allCases.map { ($0, registry.counter(.events, $0.rawValue)) })
    }

    /// The latest figures.
    package var figures: SyncFigures { latest.withLockedValue { $0 } }

    func update<Value>(_ figure: WritableKeyPath<SyncFigures, Value>, _ value: Value) {
        latest.withLockedValue { $0[keyPath: figure] = value }
    }

    /// Returns the samples of a metric that is read rather than counted; none for any other metric.
    package func samples(of metric: Metric) -> [(labels: [String], value: Double)] { figures.samples(of: metric) }

    /// Counts a newly found redemption.
    /// - Parameter redemption: a redemption of an offer in the catalogue, so that the number of series stays limited.
    package func redeemed(_ redemption: LedgerRedemption) {
        let names = [
            redemption.app.bundleID.text.description, redemption.app.environment.rawValue,
            redemption.productID.text.description, redemption.offerID,
        ]
        registry.counter(
            .redemptions, names[0], names[1], names[2], names[3], redemption.authorisedAt == nil ? "false" : "true"
        ).increment()
        guard let authorisedAt = redemption.authorisedAt else { return }
        let delay = max(0, (redemption.at - authorisedAt).components.seconds)
        registry.counter(.redemptionDelay, names[0], names[1], names[2], names[3]).increment(by: Int(delay))
    }

    /// The kind under which app receipts are counted. They are not JWSs.
    package static let receipt = "receipt"

    /// - Parameter kind: the raw value of a `PayloadKind`, or ``receipt``.
    package func appStoreData(_ kind: String, _ outcome: AppStoreDataOutcome) {
        appStoreData[AppStoreDataSeries(kind: kind, outcome: outcome)]?.increment()
    }

    /// - Parameter code: the code of a ``DataRefusal``.
    package func appStoreDataRefused(_ code: String) { appStoreRefusals[code]?.increment() }

    /// Counts an exchange with the App Store Server API.
    package func asked(_ observation: APIObservation) {
        registry.counter(
            .apiRequests, observation.endpoint.rawValue, observation.app.environment.rawValue, observation.outcome
        ).increment()
        apiSeconds.record(nanoseconds: observation.duration.nanoseconds)
    }

    /// Counts an attempt to read from App Store Connect.
    package func read(_ observation: AppStoreConnectObservation) {
        registry.counter(.connectRequests, observation.outcome).increment()
    }

    /// Counts an exchange with the legacy receipt service.
    package func asked(_ observation: ReceiptServiceObservation) {
        registry.counter(
            .apiRequests, "verify_receipt", observation.environment.rawValue, observation.outcome
        ).increment()
        apiSeconds.record(nanoseconds: observation.duration.nanoseconds)
    }

    func reported(_ outcome: ReportOutcome) { reports[outcome]?.increment() }

    func reviewed(_ outcome: ReviewOutcome) { reviews[outcome]?.increment() }

    /// Counts an event that was put into the outbox.
    func found(_ kind: CustomerEvent.Kind) { events[kind]?.increment() }

    package func received(_ outcome: NotificationOutcome) { notifications[outcome]?.increment() }

    /// Counts a notification that was stored. A type that this version does not know has a series of its own, too.
    package func stored(_ notification: NotificationRecord, of app: AppScope) {
        let type = NotificationType(rawValue: notification.type)
        registry.counter(
            .notificationTypes, app.bundleID.text.description, app.environment.rawValue,
            NotificationType.known.contains(type) ? type.rawValue : label(ofUnknownType: type.rawValue)
        ).increment()
    }

    /// Returns the name of an unknown type, or `other` for a name that is not like Apple's, or if there are too many.
    private func label(ofUnknownType type: String) -> String {
        let allowed = Set("ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_".utf8)
        let isName = (1...64).contains(type.utf8.count) && type.utf8.allSatisfy(allowed.contains)
        guard isName else { return "other" }
        return unknownTypes.withLockedValue { types in
            guard types.contains(type) || types.count < 20 else { return "other" }
            types.insert(type)
            return type
        }
    }

    /// - Parameter receiver: the receiver's name, without secrets.
    func forwarded(to receiver: String, _ outcome: ForwardOutcome, at now: Timestamp, count: Int = 1) {
        latest.withLockedValue { figures in
            if case .delivered = outcome {
                figures.deliveries[receiver, default: DeliveryFigures()].lastAt = now
            } else {
                figures.deliveries[receiver, default: DeliveryFigures()].failures += count
            }
        }
        let name =
            switch outcome {
            case .delivered: "delivered"
            case .failed: "failed"
            case .dead: "dead"
            }
        registry.counter(.forwards, receiver, name).increment(by: count)
    }
}

/// The outcome of verifying App Store data.
package enum AppStoreDataOutcome: String, CaseIterable {
    case verified, refused
}

/// The outcome of receiving a notification.
package enum NotificationOutcome: String, CaseIterable {
    case stored, known, unusable, recovered, refused, failed
}

/// The outcome of making a report.
enum ReportOutcome: String, CaseIterable {
    case made, failed
}

enum ReviewOutcome: String, CaseIterable {
    case made, repeated, failed
}

private struct AppStoreDataSeries: Hashable {
    let kind: String
    let outcome: AppStoreDataOutcome

    static var all: [AppStoreDataSeries] {
        (PayloadKind.allCases.map(\.rawValue) + [SyncMetrics.receipt]).flatMap { kind in
            AppStoreDataOutcome.allCases.map { AppStoreDataSeries(kind: kind, outcome: $0) }
        }
    }
}
