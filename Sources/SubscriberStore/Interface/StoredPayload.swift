import OfferCore
package import OfferEligibility

/// The body of a notification as received.
package struct StoredPayload: Hashable, Sendable {
    package struct ID: Hashable, Sendable {
        package let number: Int64

        package init(number: Int64) { self.number = number }
    }

    package let id: ID
    package let app: AppScope
    package let notification: NotificationRecord
    package let body: [UInt8]

    package init(id: ID, app: AppScope, notification: NotificationRecord, body: [UInt8]) {
        self.id = id
        self.app = app
        self.notification = notification
        self.body = body
    }
}

/// The result of rereading a raw payload.
package struct RereadPayload: Hashable, Sendable {
    package let id: StoredPayload.ID
    package let facts: [SubscriberFact]
    /// The SHA-256 digests of the signed texts in the payload, including texts without facts.
    package let digests: Set<[UInt8]>

    package init(id: StoredPayload.ID, facts: [SubscriberFact], digests: Set<[UInt8]>) {
        self.id = id
        self.facts = facts
        self.digests = digests
    }
}
