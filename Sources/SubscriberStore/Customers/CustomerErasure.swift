import OfferCore
import OfferEligibility

/// The erasure of a customer's data.
///
/// An App Store identifier stands for its Apple Account. In that case, only data that belongs exclusively to that Apple
/// Account is erased: its anonymous purchases, and accounts without other purchases, together with their purchases.
struct CustomerErasure {
    private let db: any Database
    private let app: Int64
    private let search: CustomerSearch
    /// The customer's identifiers and accounts to erase.
    private let names: Set<CustomerIdentifier>
    private let isOfAccount: Bool
    private var erased = 0
    private var kept = 0

    /// The result of one step of an erasure.
    struct Step: Sendable {
        let erasure: Erasure
        /// The identifiers for which more data must be erased.
        let rest: Set<CustomerIdentifier>
    }

    static func erase(_ identifier: CustomerIdentifier, _ app: Int64, _ db: any Database) throws -> Step {
        try db.overwriting {
            var erasure = try CustomerErasure(of: identifier, app, db)
            return try erasure.erase()
        }
    }

    private init(of identifier: CustomerIdentifier, _ app: Int64, _ db: any Database) throws {
        self.db = db
        self.app = app
        search = try CustomerSearch(CustomerQuery(identifier), app, db)
        isOfAccount = identifier.account != nil
        guard !isOfAccount else {
            names = search.names
            return
        }
        let accounts = try Self.exclusiveAccounts(search, app, db)
        // If a purchase is kept, statements about it are kept too.
        let stays = search.subscriptions.values.contains { purchase in
            identifier == .originalTransactionID(purchase.original) && !accounts.isSuperset(of: purchase.accounts)
        }
        names = stays ? accounts : accounts.union([identifier])
    }

    /// Returns the accounts that have no purchases or links other than those found.
    private static func exclusiveAccounts(
        _ search: CustomerSearch, _ app: Int64, _ db: any Database
    ) throws -> Set<CustomerIdentifier> {
        let found = search.subscriptions
        let here = Set(found.values.map { CustomerIdentifier.originalTransactionID($0.original) })
            .union(found.values.flatMap(\.appleAccounts))
        let links = try db.rows(LinkTable.links(of: here, app)).joined().map(LinkTable.link)
        let accounts = Set(found.values.flatMap(\.accounts)).union(links.map { CustomerIdentifier($0.account) })
        // The SQL statement excludes the purchases of one Apple Account, because there may be more of them than were
        // found.
        let appleAccount = found.values.lazy.flatMap(\.appleAccounts).first
        let limit = StoredCustomer.maximumSubscriptions + 1
        var exclusive: Set<CustomerIdentifier> = []
        for account in accounts {
            let others = try db.rows([
                IdentifierTable.purchases(naming: account, butNot: appleAccount, app, limit: limit)
            ]).joined()
            guard try others.allSatisfy({ found[try $0["id"]] != nil }), others.count < limit else { continue }
            let linked = try db.rows([LinkTable.links(to: account, app, limit: limit)]).joined()
                .map { try LinkTable.link($0).identifier }
            let usernames = linked.filter { $0.account != nil }
            guard Set(linked).subtracting(usernames).isSubset(of: here) else { continue }
            exclusive.formUnion(usernames + [account])
        }
        return exclusive
    }

    /// The purchases to erase, or from which only the data that names the customer is erased.
    private var purchases: [Int64: CustomerSearch.Found] {
        isOfAccount ? search.subscriptions : search.subscriptions.filter { names.isSuperset(of: $0.value.accounts) }
    }

    private mutating func erase() throws -> Step {
        let purchases = purchases
        for name in names { try eraseStatements(about: name) }
        let payloads = try Set(purchases.keys.flatMap { try PayloadTable.naming($0, db) })
        for payload in payloads { try PayloadTable.delete(payload, db) }
        // Events of what is kept may name the customer too, and what represented the customer may be erased. Events of others
        // who share a purchase stay, because they are not found again.
        let accounts = names.filter { $0.account != nil }
        for id in search.subscriptions.keys.sorted() {
            try ForwardTable.deleteEvents(of: id, naming: accounts, db)
            try ReviewTable.mark(id, db)
        }
        for (id, subscription) in purchases { try erase(id, subscription) }
        try AppTable.add(AppTable.Arrivals(erasedSubscriptions: erased), app, db)
        let hasMore = (!search.isComplete || search.hasMoreConsumables) && erased + kept > 0
        let appleAccounts = purchases.values.flatMap(\.appleAccounts)
        return Step(
            erasure: Erasure(subscriptions: erased, payloads: payloads.count),
            rest: hasMore ? names.union(appleAccounts) : [])
    }

    /// Deletes callers' statements about an identifier.
    private func eraseStatements(about name: CustomerIdentifier) throws {
        try TeamFactTable.removeAll(of: name, app, db)
        try TrackedFactTable.removeAll(of: name, app, db)
        try LinkTable.remove(name, app, db)
        try AuthorisationTable.erase(name, app, db)
        try ExposureTable.erase(name, app, db)
        try RetentionShownTable.erase(name, app, db)
        try OfferEventTable.erase(name, app, db)
        try GrantTable.erase(name, app, db)
        try MailedLinkTable.erase(name, app, db)
        try LinkTable.removeAll(to: name, app, db)
    }

    /// Deletes a subscription. If another account also used it, this deletes only the data that names the customer's
    /// accounts. If a caller linked it to another account, this only removes the customer's accounts from its facts.
    private mutating func erase(_ id: Int64, _ subscription: CustomerSearch.Found) throws {
        let facts = try FactTable.all(id, of: subscription.original, db)
        if try isMovedToAnother(subscription) {
            for fact in facts where isNamed(by: fact) { try FactTable.replace(fact, with: fact.withoutAccount, id, db) }
            for name in names { try IdentifierTable.delete(name, of: id, app, db) }
            kept += 1
            return
        }
        let remembered = try ErasedSubscription(subscription.original, facts, app, db)
        guard subscription.accounts.contains(where: { !names.contains($0) }) else {
            for name in subscription.appleAccounts { try eraseStatements(about: name) }
            try eraseStatements(about: .originalTransactionID(subscription.original))
            try ForwardTable.deleteEvents(of: id, db)
            try RedemptionTable.removeAll(of: id, forgotten: .erased(remembered), db)
            try SubscriptionTable.delete(id, db)
            erased += 1
            return
        }
        for fact in facts where isNamed(by: fact) { try FactTable.delete(fact, id, db) }
        for name in names { try IdentifierTable.delete(name, of: id, app, db) }
        try FactMerge.schedule(id, subscription.original, forgotten: .erased(remembered), db)
        kept += 1
    }

    private func isMovedToAnother(_ subscription: CustomerSearch.Found) throws -> Bool {
        // A link of an Apple Account covers only its anonymous purchases.
        let names =
            [.originalTransactionID(subscription.original)]
            + (subscription.accounts.isEmpty ? subscription.appleAccounts : [])
        let links = try db.rows(LinkTable.links(of: names, app)).joined().map(LinkTable.link)
        let link = names.lazy.compactMap { name in links.first { $0.identifier == name } }.first
        return link.map { !names.contains(CustomerIdentifier($0.account)) } ?? false
    }

    private func isNamed(by fact: SubscriberFact) -> Bool {
        guard let token = fact.appAccountToken else { return false }
        return names.contains(.appAccountToken(token))
    }
}
