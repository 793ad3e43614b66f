package import OfferCore
package import OfferEligibility

/// One entry of a store, in a form that every engine can read.
package enum StoreRecord: Hashable, Sendable {
    case intake(Intake)
    case fact(AppScope, SubscriberFact)
    /// An account or Apple Account named by a fact about a subscription, even if the fact was later replaced.
    case identifier(AppScope, CustomerIdentifier, of: TransactionID)
    case notification(NotificationEntry)
    case teamFact(AppScope, TeamFact)
    case trackedFact(AppScope, TrackedFact)
    case link(AppScope, CustomerLink, setAt: Timestamp)
    case authorisation(AppScope, AuthorisationEntry)
    case exposure(AppScope, Exposure)
    case retentionShown(AppScope, RetentionShown)
    case offerEvent(AppScope, OfferEvent)
    case grant(AppScope, OfferGrant)
    case mailedLink(AppScope, MailedLink)
    case linkVisits(AppScope, LinkVisits)
    case sampleSize(SampleSize)
}

/// An authorisation with its nonce and its holders. Its redemption is derived from the facts.
package struct AuthorisationEntry: Hashable, Sendable {
    package let id: Nonce
    package let authorisation: Authorisation
    package let holders: [CustomerIdentifier]
    /// The other signature of the same answer, if it was added earlier.
    package let twin: Nonce?
    /// The authorisation that took the slot, possibly this one; nil in an export by an older version.
    package let slot: Nonce?

    package init(
        id: Nonce, authorisation: Authorisation, holders: [CustomerIdentifier], twin: Nonce? = nil, slot: Nonce? = nil
    ) {
        self.id = id
        self.authorisation = authorisation
        self.holders = holders
        self.twin = twin
        self.slot = slot
    }
}

/// A notification with its temporary data.
package struct NotificationEntry: Hashable, Sendable {
    package let app: AppScope
    package let notification: NotificationRecord
    /// The body; nil if it was pruned or erased.
    package let body: [UInt8]?
    /// The subscriptions that the body names, as long as the body is kept.
    package let subscriptions: [TransactionID]
    package let forwards: [ForwardEntry]

    package init(
        app: AppScope, notification: NotificationRecord, body: [UInt8]?, subscriptions: [TransactionID],
        forwards: [ForwardEntry]
    ) {
        self.app = app
        self.notification = notification
        self.body = body
        self.subscriptions = subscriptions
        self.forwards = forwards
    }
}

/// A forward that has not been delivered.
package struct ForwardEntry: Hashable, Sendable {
    package let receiver: String
    package let failures: Int
    /// The time at which the forward was given up; nil if it still waits for delivery.
    package let diedAt: Timestamp?

    package init(receiver: String, failures: Int, diedAt: Timestamp?) {
        self.receiver = receiver
        self.failures = failures
        self.diedAt = diedAt
    }
}
