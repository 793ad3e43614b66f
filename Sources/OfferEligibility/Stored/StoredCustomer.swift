package import OfferCore

/// The store's data about a customer in one app and environment.
///
/// It contains everything that may count for the customer, and may contain more. ``CustomerPurchases`` selects the data
/// that counts.
package struct StoredCustomer: Hashable, Sendable {
    package let app: AppScope
    /// The facts, one for each key, in no particular order.
    package let facts: [SubscriberFact]
    package let teamFacts: [TeamFact]
    package let links: [CustomerLink]
    package let exposures: [Exposure]
    package let events: [OfferEvent]
    package let grants: [OfferGrant]
    /// False if the customer has more purchases than the store reads, or if one cannot be read. Consumables are
    /// ignored.
    package let isComplete: Bool
    /// True if only the latest consumables were read.
    package let hasUnreadConsumables: Bool
    /// The span for which Apple's notification history was read without a gap; nil if there is none.
    package let coverage: HistoryEvidence.Coverage?

    package init(
        app: AppScope, facts: [SubscriberFact], teamFacts: [TeamFact], links: [CustomerLink],
        exposures: [Exposure], events: [OfferEvent], grants: [OfferGrant], isComplete: Bool,
        hasUnreadConsumables: Bool = false, coverage: HistoryEvidence.Coverage? = nil
    ) {
        self.app = app
        self.facts = facts
        self.teamFacts = teamFacts
        self.links = links
        self.exposures = exposures
        self.events = events
        self.grants = grants
        self.isComplete = isComplete
        self.hasUnreadConsumables = hasUnreadConsumables
        self.coverage = coverage
    }

    /// Creates a customer about whom nothing was read.
    package init(unknownIn app: AppScope, isComplete: Bool = true) {
        self.init(
            app: app, facts: [], teamFacts: [], links: [], exposures: [], events: [], grants: [],
            isComplete: isComplete)
    }

    /// Returns the same data with the facts that proofs show.
    package func adding(_ newFacts: [SubscriberFact]) -> StoredCustomer {
        guard !newFacts.isEmpty else { return self }
        return StoredCustomer(
            app: app, facts: Array(SubscriberFacts(facts + newFacts)), teamFacts: teamFacts, links: links,
            exposures: exposures, events: events, grants: grants, isComplete: isComplete,
            hasUnreadConsumables: hasUnreadConsumables, coverage: coverage)
    }

    /// Returns the same data with a grant that is not stored yet.
    package func adding(_ grant: OfferGrant?) -> StoredCustomer {
        guard let grant, !grants.contains(where: { $0.id == grant.id }) else { return self }
        return StoredCustomer(
            app: app, facts: facts, teamFacts: teamFacts, links: links, exposures: exposures, events: events,
            grants: grants + [grant], isComplete: isComplete, hasUnreadConsumables: hasUnreadConsumables,
            coverage: coverage)
    }

    /// The maximum number of subscriptions read for one customer. A real customer has a handful; an app that gives
    /// every customer the same token has millions.
    package static let maximumSubscriptions = 200
}

/// A possible customer of one subscription.
package struct NumberedCustomer: Hashable, Sendable {
    package let originalTransactionID: TransactionID
    /// An account that may own the subscription; the subscription itself if no account may.
    package let identifier: CustomerIdentifier
    package let customer: StoredCustomer

    package init(originalTransactionID: TransactionID, identifier: CustomerIdentifier, customer: StoredCustomer) {
        self.originalTransactionID = originalTransactionID
        self.identifier = identifier
        self.customer = customer
    }
}
