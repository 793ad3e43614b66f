package import AppStoreData
package import Logging
package import OfferConfiguration
package import OfferCore
package import OfferEligibility
package import SubscriberStore

/// Verifies notifications and stores them, whether the App Store posted them or listed them in its history.
package struct NotificationIntake: Sendable {
    private let store: CurrentStore
    private let trust: AppStoreTrust
    private let reader: NotificationReader
    private let now: @Sendable () -> Timestamp
    private let apps: ConfiguredApps

    package init(store: CurrentStore, trust: AppStoreTrust, now: @escaping @Sendable () -> Timestamp, log: Logger) {
        self.store = store
        self.trust = trust
        self.now = now
        reader = NotificationReader(trust.verifier)
        apps = ConfiguredApps(log: log)
    }

    /// Verifies a notification and derives its facts.
    /// - Parameter app: the app in whose history the App Store listed the notification; nil if it was posted.
    package func read(
        _ body: NotificationBody, inHistoryOf app: AppScope? = nil, under policy: Policy
    ) async throws(DataRefusal) -> NotificationReader.Reading {
        do throws(DataRefusal) {
            let expected = try apps.expected(under: policy)
            let reading = try reader.read(
                body, for: app.map(expected.asked) ?? expected, in: policy.catalogue ?? Catalogue(apps: [:]), at: now())
            for chain in reading.chains { try await trust.requireGood(chain) }
            trust.noteVerified(PayloadKind.notification.rawValue)
            return reading
        } catch {
            trust.noteRefused(PayloadKind.notification.rawValue, error)
            throw error
        }
    }

    /// Stores a notification, which is durable when this function returns.
    /// - Parameter body: the body as received or, for a recovered notification, as it would have been received.
    package func keep(
        _ reading: NotificationReader.Reading, body: [UInt8], under policy: Policy
    ) async throws(StoreError) -> DeliveryOutcome {
        let delivery = Delivery(
            app: reading.app, notification: reading.notification, body: body, facts: reading.facts,
            receivers: reading.isAppAssumed ? [] : policy.receivers(of: reading.app))
        return try await store.apply(delivery)
    }
}

extension Policy {
    /// Returns the URLs to which an app's notifications are forwarded.
    func receivers(of app: AppScope) -> [String] { catalogue?.apps[app.bundleID]?.notifications.receivers ?? [] }
}
