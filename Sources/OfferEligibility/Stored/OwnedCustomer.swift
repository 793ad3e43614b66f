package import OfferCore

/// The stored data that counts for one customer, as defined by ``CustomerPurchases``.
package struct OwnedCustomer {
    package let app: AppScope
    package let purchases: CustomerPurchases
    package let facts: SubscriberFacts
    /// The latest team fact for each name, sorted by name.
    package let teamFacts: [TeamFact]
    package let links: [CustomerLink]
    /// The exposures that count for the customer.
    package let exposures: [Exposure]
    /// The events that count for the customer.
    package let events: [OfferEvent]
    /// The grants that count for the customer, in any state, oldest first.
    package let grants: [OfferGrant]
    package let appAccountToken: UUIDText?
    package let applicationUsername: FieldText?
    package let appTransactionID: TransactionID?
    /// False if the store has more purchases of the customer than it reads.
    package let isComplete: Bool
    private let hasUnreadConsumables: Bool
    /// The requested identifier.
    private let requested: CustomerIdentifier?
    private let coverage: HistoryEvidence.Coverage?

    /// - Parameters:
    ///   - identifier: the requested identifier; nil if only proofs identify the customer.
    ///   - proven: the purchases in proofs.
    ///   - provenAppleAccount: the Apple Account of the proofs.
    /// - Returns: nil if nothing belongs to the customer.
    package init?(
        _ stored: StoredCustomer, known identifier: CustomerIdentifier?, by policy: OwnershipPolicy,
        proven: Set<TransactionID> = [], provenAppleAccount: TransactionID? = nil
    ) {
        let links = AccountLinks(stored.links)
        let purchases = CustomerPurchases(
            of: identifier, in: stored.facts, links: stored.links, by: policy, proven: proven,
            provenAppleAccount: provenAppleAccount)
        let accounts = purchases.accounts
        self.purchases = purchases
        app = stored.app
        facts = SubscriberFacts(purchases.facts)
        let names = stored.teamFacts.isEmpty && stored.links.isEmpty ? [] : purchases.names
        teamFacts = Self.latest(stored.teamFacts.filter { names.contains($0.identifier) })
        // If the request names an account, links to other accounts do not count.
        let linked = stored.links.filter { link in
            accounts.contains(link.account) || identifier?.account == nil && names.contains(link.identifier)
        }
        self.links = linked.sorted { $0.identifier.precedes($1.identifier) }
        let hasRecords = !(stored.exposures.isEmpty && stored.events.isEmpty && stored.grants.isEmpty)
        let exposed = hasRecords ? Self.names(of: purchases, known: identifier) : []
        exposures = stored.exposures.filter { $0.subject.isOne(of: exposed) }
        events = stored.events.filter { $0.subject.isOne(of: exposed) }
        let shown = purchases.purchases.filter { proven.contains($0.original) }
        let ownAccounts = accounts.union(shown.flatMap(\.owners))
        grants = stored.grants.filter { grant in
            // Anybody who knows a token can buy with it under another Apple Account.
            grant.subject.isOne(of: exposed) && grant.mayBeFor(ownAccounts)
                && (grant.subject.customer?.account == nil || identifier?.account != nil)
        }.sorted { one, other in
            one.at == other.at ? one.id.utf8.lexicographicallyPrecedes(other.id.utf8) : one.at < other.at
        }
        requested = identifier
        isComplete = stored.isComplete
        hasUnreadConsumables = stored.hasUnreadConsumables
        coverage = stored.coverage
        guard !facts.isEmpty || !teamFacts.isEmpty || !self.links.isEmpty else { return nil }
        let owners =
            [identifier?.account].compactMap(\.self) + purchases.purchases.flatMap(\.owners)
            + self.links.map(\.account)
        let token = owners.lazy.compactMap(\.token).first ?? links.tokens(of: owners).first
        appAccountToken = token
        applicationUsername =
            owners.lazy.compactMap(\.username).first
            ?? token.flatMap { links.usernames(of: .appAccountToken($0)).first }
        if case .appTransactionID(let id) = identifier {
            appTransactionID = id
        } else {
            appTransactionID = purchases.purchases.lazy.compactMap(\.appleAccount).first
        }
    }

    /// The identifiers whose records count for the customer.
    package var recordNames: Set<CustomerIdentifier> { Self.names(of: purchases, known: requested) }

    private static func names(
        of purchases: CustomerPurchases, known identifier: CustomerIdentifier?
    ) -> Set<CustomerIdentifier> {
        let account = identifier?.account.map { CustomerIdentifier($0) }
        return exposed(purchases).union([account].compactMap(\.self))
    }

    /// Returns the identifiers whose records count for the customer.
    ///
    /// An account with purchases of several Apple Accounts may include another person's, for example from a shared
    /// device. Then only the account and its first purchase count.
    private static func exposed(_ purchases: CustomerPurchases) -> Set<CustomerIdentifier> {
        let all = purchases.purchases
        guard Set(all.compactMap(\.appleAccount)).count > 1 else { return Set(purchases.holders) }
        // Anonymous purchases of the other person may be older.
        let own = all.filter { $0.appleAccount != nil && $0.belongs(toAnyOf: purchases.accounts) }
        let first = (own.isEmpty ? all : own).min { $0.original.precedes($1.original) }
        var identifiers = Set(purchases.holders.filter { $0.account != nil })
        identifiers.formUnion(
            [first?.appleAccount.map(CustomerIdentifier.appTransactionID)].compactMap(\.self)
                + [first.map { .originalTransactionID($0.original) }].compactMap(\.self))
        return identifiers
    }

    /// The team facts, keyed by their names in rules.
    package var teamFactsByName: [String: TeamFactValue] {
        Dictionary(teamFacts.map { ($0.name.description, $0.value) }, uniquingKeysWith: { first, _ in first })
    }

    /// The identifiers that hold a reservation for the customer.
    package var holders: [CustomerIdentifier] { purchases.holders }

    /// The identifier under which records about the customer are kept: the Apple Account; if it is unknown or there are
    /// several, the account, or else the earliest subscription. nil if the customer has none of them.
    ///
    /// An account with purchases of several Apple Accounts may include another person's, for example from a shared
    /// device. That person's records must not be mixed with the customer's.
    package var recordedAs: CustomerIdentifier? {
        let appleAccounts = appleAccounts
        if appleAccounts.count == 1, let only = appleAccounts.first { return .appTransactionID(only) }
        return holders.first { $0.account != nil }
            ?? appleAccounts.min { $0.precedes($1) }.map(CustomerIdentifier.appTransactionID) ?? earliestSubscription
    }

    /// The identifier under which a grant to the customer is kept: ``recordedAs``, or the earliest subscription if no
    /// Apple Account is known. A grant that is kept under an account counts only for requests that name the account.
    package var grantedAs: CustomerIdentifier? {
        (appleAccounts.isEmpty ? earliestSubscription : nil) ?? recordedAs
    }

    private var appleAccounts: Set<TransactionID> { Set(facts.lazy.compactMap(\.appTransactionID)) }

    private var earliestSubscription: CustomerIdentifier? {
        firstSubscription.map(CustomerIdentifier.originalTransactionID)
    }

    /// The customer's first subscription; nil if there is none.
    package var firstSubscription: TransactionID? {
        purchases.purchases.filter(\.isSubscription).map(\.original).min { $0.precedes($1) }
    }

    /// The account for which a record about the customer is made: the requested one, or the only owner of the requested
    /// purchase. nil if there is none or several.
    package var account: Customer? { requested?.account ?? purchases.onlyAccount }

    /// Returns the customer's state according to the stored facts.
    package func state(in app: Catalogue.App, at now: Timestamp) -> SubscriberState {
        SubscriberState(
            of: facts, environment: self.app.environment, groups: app.groups, familySharable: app.familySharable,
            evidence: HistoryEvidence(
                freshness: app.freshness ?? HistoryEvidence.defaultFreshness, coverage: coverage,
                isEverythingRead: isComplete, areConsumablesRead: !hasUnreadConsumables), at: now)
    }

    private static func latest(_ facts: [TeamFact]) -> [TeamFact] {
        var latest: [FieldText: TeamFact] = [:]
        for fact in facts {
            if let known = latest[fact.name], !fact.replaces(known) { continue }
            latest[fact.name] = fact
        }
        return latest.values.sorted { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }
    }
}

extension TeamFact {
    /// Returns true if this fact takes precedence over one with the same name under another identifier.
    fileprivate func replaces(_ other: TeamFact) -> Bool {
        setAt == other.setAt ? other.identifier.precedes(identifier) : setAt > other.setAt
    }
}

extension CustomerFacts {
    /// Creates the facts for decisions from the stored data about a customer.
    package init(_ customer: OwnedCustomer, in app: Catalogue.App, at now: Timestamp) {
        let state = customer.state(in: app, at: now)
        self.init(
            state: state, environment: customer.app.environment, team: customer.teamFactsByName,
            places: customer.exposures.places, events: customer.events)
    }
}

extension NumberedCustomer {
    /// Returns true if the subscription is the first one of its customer, so that each customer is counted once.
    /// - Parameter owned: the customer by each ownership policy that applies.
    func represents(_ owned: [OwnedCustomer]) -> Bool {
        let first = owned.flatMap(\.facts).map(\.originalTransactionID).min { $0.precedes($1) }
        return first == originalTransactionID
    }
}
