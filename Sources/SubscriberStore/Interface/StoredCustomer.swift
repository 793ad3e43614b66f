package import OfferCore

/// What the store knows of a customer in one app and environment.
///
/// It holds everything that may be theirs. Of a subscription that names several accounts, the ownership policy decides.
package struct StoredCustomer: Hashable, Sendable {
    package let app: AppScope
    /// One for each key, in no particular order.
    package let facts: [SubscriberFact]
    package let teamFacts: [TeamFact]
    package let links: [CustomerLink]
    /// False if the identifier names more purchases than the store reads for one customer. Consumables do not count: of those, only
    /// the latest are read.
    package let isComplete: Bool

    package init(
        app: AppScope, facts: [SubscriberFact], teamFacts: [TeamFact], links: [CustomerLink], isComplete: Bool
    ) {
        self.app = app
        self.facts = facts
        self.teamFacts = teamFacts
        self.links = links
        self.isComplete = isComplete
    }

    /// The most subscriptions that are read for one customer. A real customer has a handful; an app that gives every
    /// customer the same token has millions.
    package static let maximumSubscriptions = 200
}

/// The customer of one subscription.
package struct NumberedCustomer: Hashable, Sendable {
    package let originalTransactionID: TransactionID
    package let customer: StoredCustomer

    package init(originalTransactionID: TransactionID, customer: StoredCustomer) {
        self.originalTransactionID = originalTransactionID
        self.customer = customer
    }
}

/// What an erasure removed.
package struct Erasure: Hashable, Sendable {
    package let subscriptions: Int
    package let payloads: Int

    package init(subscriptions: Int, payloads: Int) {
        self.subscriptions = subscriptions
        self.payloads = payloads
    }
}
