package import OfferCore
package import OfferEligibility

/// A notification to forward to one of the team's receivers.
package struct Forward: Hashable, Sendable {
    package struct ID: Hashable, Sendable {
        package let number: Int64
        /// The queue of the notifications about one subscription; nil for a notification that names no subscription.
        let queue: LockName?
    }

    package let id: ID
    package let app: AppScope
    package let notification: NotificationRecord
    package let body: [UInt8]
    package let receiver: String
    /// The number of failed attempts.
    package let failures: Int

    package init(
        id: ID, app: AppScope, notification: NotificationRecord, body: [UInt8], receiver: String, failures: Int
    ) {
        self.id = id
        self.app = app
        self.notification = notification
        self.body = body
        self.receiver = receiver
        self.failures = failures
    }
}

package enum ForwardOutcome: Hashable, Sendable {
    case delivered
    case failed(nextAttempt: Timestamp)
    /// Forwarding was given up.
    case dead(at: Timestamp)
}

/// A notification whose forwarding was given up.
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
