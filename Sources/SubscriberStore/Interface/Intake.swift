package import OfferCore
package import OfferEligibility

/// The notifications and facts received for an app in one environment. The counts include data that was erased later.
package struct Intake: Hashable, Sendable {
    package let app: AppScope
    package let notifications: Int
    package let subscriptions: Int
    package let erasedSubscriptions: Int
    /// The time at which the last notification was received; nil if there was none.
    package let lastReceivedAt: Timestamp?
    /// The latest `signedDate` of a notification.
    package let lastSignedDate: Timestamp?

    /// The seconds from the latest `signedDate` to the latest arrival of a notification; nil if there was none. If an
    /// older notification arrived last, its delay was longer than this.
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
