import OfferCore

/// The erasure of what belongs to a customer.
struct CustomerErasure {
    private let db: any Database
    private let app: Int64
    private let search: CustomerSearch
    private var erased = 0
    private var kept = 0

    /// What one step of an erasure has done.
    struct Step: Sendable {
        let erasure: Erasure
        /// The names under which there is more to erase.
        let rest: Set<CustomerIdentifier>
    }

    static func erase(_ identifier: CustomerIdentifier, _ app: Int64, _ db: any Database) throws -> Step {
        try db.overwriting {
            var erasure = CustomerErasure(db: db, app: app, search: try CustomerSearch(identifier, app, db))
            return try erasure.erase()
        }
    }

    private init(db: any Database, app: Int64, search: CustomerSearch) {
        self.db = db
        self.app = app
        self.search = search
    }

    private mutating func erase() throws -> Step {
        for name in search.names { try eraseStatements(about: name) }
        let payloads = try Set(search.subscriptions.keys.flatMap { try PayloadTable.naming($0, db) })
        for payload in payloads { try PayloadTable.delete(payload, db) }
        for (id, subscription) in search.subscriptions { try erase(id, subscription) }
        try AppTable.add(AppTable.Arrivals(erasedSubscriptions: erased), app, db)
        let hasMore = (!search.isComplete || search.hasMoreConsumables) && erased + kept > 0
        let appleAccounts = search.subscriptions.values.flatMap(\.appleAccounts)
        return Step(
            erasure: Erasure(subscriptions: erased, payloads: payloads.count),
            rest: hasMore ? search.names.union(appleAccounts) : [])
    }

    /// Deletes what callers have said about an identifier.
    private func eraseStatements(about name: CustomerIdentifier) throws {
        try TeamFactTable.removeAll(of: name, app, db)
        try LinkTable.remove(name, app, db)
        try AuthorisationTable.erase(name, app, db)
        try LinkTable.removeAll(to: name, app, db)
    }

    /// Deletes a subscription. One that another account has used too loses only what names the customer's accounts. Of one that a
    /// caller has moved to another account, everything else stays.
    private mutating func erase(_ id: Int64, _ subscription: CustomerSearch.Found) throws {
        let facts = try FactTable.all(id, of: subscription.original, db)
        if try isMovedToAnother(subscription) {
            for fact in facts where isNamed(by: fact) { try FactTable.replace(fact, with: fact.withoutAccount, id, db) }
            for name in search.names { try IdentifierTable.delete(name, of: id, app, db) }
            kept += 1
            return
        }
        let remembered = try ErasedSubscription(subscription.original, facts, app, db)
        guard subscription.accounts.contains(where: { !search.names.contains($0) }) else {
            for name in subscription.appleAccounts { try eraseStatements(about: name) }
            try eraseStatements(about: .originalTransactionID(subscription.original))
            try RedemptionTable.removeAll(of: id, forgotten: .erased(remembered), db)
            try SubscriptionTable.delete(id, db)
            erased += 1
            return
        }
        for fact in facts where isNamed(by: fact) { try FactTable.delete(fact, id, db) }
        for name in search.names { try IdentifierTable.delete(name, of: id, app, db) }
        try FactMerge.schedule(id, subscription.original, forgotten: .erased(remembered), db)
        kept += 1
    }

    private func isMovedToAnother(_ subscription: CustomerSearch.Found) throws -> Bool {
        // A link of an Apple Account is about its anonymous purchases only.
        let names =
            [.originalTransactionID(subscription.original)]
            + (subscription.accounts.isEmpty ? subscription.appleAccounts : [])
        let links = try db.rows(LinkTable.links(of: names, app)).joined().map(LinkTable.link)
        let link = names.lazy.compactMap { name in links.first { $0.identifier == name } }.first
        return link.map { !search.names.contains(CustomerIdentifier($0.account)) } ?? false
    }

    private func isNamed(by fact: SubscriberFact) -> Bool {
        guard let token = fact.appAccountToken else { return false }
        return search.names.contains(.appAccountToken(token))
    }
}
