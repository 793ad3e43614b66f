package import OfferCore

/// What has arrived for an app in one environment. The counts include what was erased since.
package struct Intake: Hashable, Sendable {
    package let app: AppScope
    package let notifications: Int
    package let subscriptions: Int
    package let erasedSubscriptions: Int
    /// When the last notification was received; nil if there was none.
    package let lastReceivedAt: Timestamp?
    /// The latest `signedDate` of a notification.
    package let lastSignedDate: Timestamp?

    package init(
        app: AppScope, notifications: Int, subscriptions: Int, erasedSubscriptions: Int, lastReceivedAt: Timestamp?,
        lastSignedDate: Timestamp?
    ) {
        self.app = app
        self.notifications = notifications
        self.subscriptions = subscriptions
        self.erasedSubscriptions = erasedSubscriptions
        self.lastReceivedAt = lastReceivedAt
        self.lastSignedDate = lastSignedDate
    }
}
