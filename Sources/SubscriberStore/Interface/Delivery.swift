package import OfferCore
package import OfferEligibility

/// A verified notification of the App Store, with its facts.
package struct Delivery: Hashable, Sendable {
    package let app: AppScope
    package let notification: NotificationRecord
    /// The body as received.
    package let body: [UInt8]
    package let facts: [SubscriberFact]
    /// The URLs to which the body is forwarded.
    package let receivers: [String]

    package init(
        app: AppScope, notification: NotificationRecord, body: [UInt8], facts: [SubscriberFact],
        receivers: [String] = []
    ) {
        self.app = app
        self.notification = notification
        self.body = body
        self.facts = facts
        self.receivers = receivers
    }
}

/// The permanent record of a notification. It contains no personal data.
package struct NotificationRecord: Hashable, Sendable {
    /// The identifier, which is the same in every delivery of the notification.
    package let notificationUUID: FieldText
    package let type: String
    package let subtype: String?
    package let signedDate: Timestamp
    package let receivedAt: Timestamp

    package init(
        notificationUUID: FieldText, type: String, subtype: String?, signedDate: Timestamp, receivedAt: Timestamp
    ) {
        self.notificationUUID = notificationUUID
        self.type = type
        self.subtype = subtype
        self.signedDate = signedDate
        self.receivedAt = receivedAt
    }
}

package enum DeliveryOutcome: Hashable, Sendable {
    case applied
    /// The notification was already stored, so nothing changes.
    case known
}
