import OfferCore

/// The erasure of what belongs to a customer.
struct CustomerErasure {
    private let db: any Database
    private let app: Int64
    private let search: CustomerSearch
    private var erased = 0

    static func erase(_ identifier: CustomerIdentifier, _ app: Int64, _ db: any Database) throws -> Erasure {
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

    private mutating func erase() throws -> Erasure {
        for name in search.names { try eraseStatements(about: name) }
        let payloads = try Set(search.subscriptions.keys.flatMap { try PayloadTable.naming($0, db) })
        for payload in payloads { try PayloadTable.delete(payload, db) }
        for (id, subscription) in search.subscriptions { try erase(id, subscription) }
        try AppTable.add(AppTable.Arrivals(erasedSubscriptions: erased), app, db)
        return Erasure(subscriptions: erased, payloads: payloads.count, isComplete: search.isComplete)
    }

    /// Deletes what callers have said about an identifier.
    private func eraseStatements(about name: CustomerIdentifier) throws {
        try TeamFactTable.removeAll(of: name, app, db)
        try LinkTable.remove(name, app, db)
        try AuthorisationTable.erase(name, app, db)
        for link in try LinkTable.links(to: name, app, limit: StoredCustomer.maximumSubscriptions, db) {
            try LinkTable.remove(link.identifier, app, db)
        }
    }

    /// Deletes a subscription. One that another account has used too loses only what names the customer's accounts.
    private mutating func erase(_ id: Int64, _ subscription: CustomerSearch.Found) throws {
        guard subscription.accounts.contains(where: { !search.names.contains($0) }) else {
            for name in subscription.appleAccounts { try eraseStatements(about: name) }
            try eraseStatements(about: .originalTransactionID(subscription.original))
            try SubscriptionTable.delete(id, db)
            erased += 1
            return
        }
        for fact in try FactTable.all(id, of: subscription.original, db) where isNamed(by: fact) {
            try FactTable.delete(fact, id, db)
        }
        for name in search.names { try IdentifierTable.delete(name, of: id, app, db) }
        try FactMerge.schedule(id, subscription.original, afterRemoval: true, db)
    }

    private func isNamed(by fact: SubscriberFact) -> Bool {
        guard let token = fact.appAccountToken else { return false }
        return search.names.contains(.appAccountToken(token))
    }
}
