import Foundation
package import OfferCore
package import OfferEligibility

/// A notification or an event to send to one of the team's receivers.
package struct Forward: Hashable, Sendable {
    package struct ID: Hashable, Sendable {
        package let number: Int64
        /// The queue of what is about one subscription; nil for a notification that names no subscription.
        let queue: LockName?
    }

    package enum Content: Hashable, Sendable {
        case notification(NotificationRecord)
        /// An event, by its ID, and the time at which it was found.
        case event(UUIDText, at: Timestamp)
    }

    package let id: ID
    package let app: AppScope
    package let content: Content
    package let body: [UInt8]
    package let receiver: String
    /// The number of failed attempts.
    package let failures: Int

    package init(
        id: ID, app: AppScope, content: Content, body: [UInt8], receiver: String, failures: Int
    ) {
        self.id = id
        self.app = app
        self.content = content
        self.body = body
        self.receiver = receiver
        self.failures = failures
    }

    /// The `notificationUUID`, or the ID of the event.
    package var contentID: String {
        switch content {
        case .notification(let notification): notification.notificationUUID.description
        case .event(let id, _): "\(id)"
        }
    }

    /// The type and subtype of the notification, or the type of the event.
    package var contentType: String {
        switch content {
        case .notification(let notification):
            [notification.type, notification.subtype].compactMap(\.self).joined(separator: "/")
        case .event: (try? JSONDecoder().decode(EventType.self, from: Data(body)).type) ?? "event"
        }
    }

    private struct EventType: Decodable {
        let type: String
    }

    /// The time since which it waits.
    package var since: Timestamp {
        switch content {
        case .notification(let notification): notification.receivedAt
        case .event(_, let time): time
        }
    }
}

package enum ForwardOutcome: Hashable, Sendable {
    case delivered
    case failed(nextAttempt: Timestamp)
    /// Forwarding was given up.
    case dead(at: Timestamp)
}

/// A notification or an event whose sending was given up.
package struct DeadLetter: Hashable, Sendable {
    package let forward: Forward
    package let diedAt: Timestamp

    package init(forward: Forward, diedAt: Timestamp) {
        self.forward = forward
        self.diedAt = diedAt
    }
}

/// A receiver and the counts of its notifications.
package struct Receiver: Hashable, Sendable {
    package let url: String
    package let pending: Int
    package let dead: Int
    /// The time at which the oldest waiting notification was received; nil if none is waiting.
    package let oldestPending: Timestamp?

    package init(url: String, pending: Int, dead: Int, oldestPending: Timestamp?) {
        self.url = url
        self.pending = pending
        self.dead = dead
        self.oldestPending = oldestPending
    }
}
