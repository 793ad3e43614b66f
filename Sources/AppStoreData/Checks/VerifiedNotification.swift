import OfferCore
package import OfferEligibility

/// A notification about one of our apps, with the verified data inside it.
package struct VerifiedNotification: Hashable, Sendable {
    package let notification: AppStoreNotification
    package let app: ExpectedApp
    /// The environment of all data inside, even of data that names no environment.
    package let environment: AppStoreEnvironment
    package let contents: NotificationContents

    /// - Parameters:
    ///   - notification: a notification decoded from a JWS with a valid signature.
    ///   - verify: verifies a JWS inside the notification. It is called once for each, and only for notifications about
    ///     our apps.
    package init<Failure: Error>(
        _ notification: AppStoreNotification, for apps: ExpectedApps, verify: InnerVerifier<Failure>
    ) throws(NotificationFailure<Failure>) {
        let origin = notification.origin
        do { app = try apps.check(origin) } catch { throw NotificationFailure(.check(error)) }
        guard let environment = origin.environment else { throw NotificationFailure(.check(.environmentMissing)) }
        self.environment = environment
        contents = try NotificationContents(of: notification, verify: verify)
        self.notification = notification
    }
}
