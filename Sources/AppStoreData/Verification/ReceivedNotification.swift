package import OfferCore
import OfferCrypto
package import OfferEligibility

/// A notification about one of our apps that Apple signed, whether or not its content can be used.
///
/// Such a notification is kept even if part of it is unexpected, because Apple sends it only a few times.
package struct ReceivedNotification: Sendable {
    package let app: ExpectedApp
    package let environment: AppStoreEnvironment
    package let notificationUUID: FieldText
    package let type: NotificationType
    package let subtype: NotificationSubtype?
    package let signedDate: Timestamp
    /// The verified notification; nil if its content is of an unknown kind or unusable because of ``fault``.
    package let verified: VerifiedNotification?
    /// The reason that the content cannot be used; nil if there is none.
    package let fault: DataRefusal?
    /// True if the notification does not name the app. Another developer may then have sent it: the App Store signs
    /// notifications about all apps.
    package let isAppAssumed: Bool
    /// The chains of the notification and of each JWS in it that was verified.
    package let chains: [VerifiedChain]

    package var scope: AppScope { AppScope(bundleID: app.bundleID, environment: environment) }
}

extension AppStoreVerifier {
    /// Verifies a notification, and each JWS in it, for a caller that keeps all notifications that Apple signed.
    /// - Throws: a refusal if Apple did not sign the notification, if it is not about one of our apps, or if it cannot
    ///   be verified now.
    package func receiveNotification(
        _ text: [UInt8], for apps: ExpectedApps, at date: EffectiveDate
    ) throws(DataRefusal) -> ReceivedNotification {
        let (object, chain) = try object(in: text, at: date)
        var chains = [chain]
        do throws(DataRefusal) {
            return ReceivedNotification(try verified(object, for: apps, at: date, &chains), chains: chains)
        } catch {
            guard !error.isRetryable else { throw error }
            return try ReceivedNotification(object, for: apps, fault: error, chains: chains)
        }
    }

    private func verified(
        _ payload: PayloadObject, for apps: ExpectedApps, at date: EffectiveDate, _ chains: inout [VerifiedChain]
    ) throws(DataRefusal) -> VerifiedNotification {
        let notification: AppStoreNotification
        do { notification = try AppStoreNotification(payload) } catch { throw DataRefusal(error) }
        do throws(NotificationFailure<DataRefusal>) {
            return try VerifiedNotification(notification, for: apps) { (inner, _) throws(DataRefusal) in
                let (object, chain) = try object(in: inner, at: date)
                if chain.leaf.digest != chains[0].leaf.digest { chains.append(chain) }
                return object
            }
        } catch { throw DataRefusal(error) }
    }
}

extension ReceivedNotification {
    fileprivate init(_ verified: VerifiedNotification, chains: [VerifiedChain]) {
        let notification = verified.notification
        self.init(
            app: verified.app, environment: verified.environment, notificationUUID: notification.notificationUUID,
            type: notification.type, subtype: notification.subtype, signedDate: notification.signedDate,
            verified: verified, fault: nil, isAppAssumed: false, chains: chains)
    }

    /// - Parameter fault: the reason that the notification could not be read completely.
    fileprivate init(
        _ payload: PayloadObject, for apps: ExpectedApps, fault: DataRefusal, chains: [VerifiedChain]
    ) throws(DataRefusal) {
        let envelope: NotificationEnvelope
        do {
            try PayloadKind.notification.require(of: payload.members)
            envelope = try NotificationEnvelope(payload)
        } catch { throw DataRefusal(error) }
        let origin = apps.completing(envelope.origin)
        let app: ExpectedApp
        do { app = try apps.check(origin) } catch { throw DataRefusal(error, of: envelope.type) }
        guard let environment = origin.environment else { throw DataRefusal(.environmentMissing) }
        self.init(
            app: app, environment: environment, notificationUUID: envelope.notificationUUID, type: envelope.type,
            subtype: envelope.subtype, signedDate: envelope.signedDate, verified: nil,
            fault: AppStoreNotification.isOfUnknownContent(payload) ? nil : fault,
            isAppAssumed: apps.asked == nil && envelope.origin.bundleID == nil && envelope.origin.appAppleID == nil,
            chains: chains)
    }
}

extension AppStoreNotification {
    /// Returns true if a notification can be read except for content of an unknown kind.
    fileprivate static func isOfUnknownContent(_ payload: PayloadObject) -> Bool {
        (try? Self(payload))?.content == .unknown
    }
}
