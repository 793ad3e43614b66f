package import OfferCore
package import OfferEligibility

/// The notifications and facts received for an app in one environment. The counts include data erased since.
package struct Intake: Hashable, Sendable {
    package let app: AppScope
    package let notifications: Int
    package let subscriptions: Int
    package let erasedSubscriptions: Int
    /// The time at which the last notification was received; nil if there was none.
    package let lastReceivedAt: Timestamp?
    /// The latest `signedDate` of a notification.
    package let lastSignedDate: Timestamp?

    /// The time between the signing and the arrival of the newest notification, in seconds; nil if there was none. It
    /// is too short if an older notification arrived later.
    package var lag: Double? {
        guard let lastReceivedAt, let lastSignedDate else { return nil }
        return max(0, Double(lastReceivedAt.milliseconds) - Double(lastSignedDate.milliseconds)) / 1000
    }

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
