import OfferCore

/// Finds what may belong to a customer, in a fixed number of steps by index.
///
/// It begins with the subscriptions that the identifier names. An identifier of the App Store leads to the accounts that its
/// Apple Account has used. An account leads to what is linked to it and to the anonymous purchases of its Apple Accounts, but
/// never to another account.
struct CustomerSearch {
    struct Found {
        let original: TransactionID
        /// The accounts that facts about the subscription have named.
        let accounts: [CustomerIdentifier]
        let appleAccounts: [CustomerIdentifier]
    }

    private let db: any Database
    private let app: Int64
    /// The accounts, and what was asked for or linked.
    private(set) var names: Set<CustomerIdentifier>
    /// Consumables included.
    private(set) var subscriptions: [Int64: Found] = [:]
    /// False if there are more purchases than are read for one customer. Consumables do not count.
    private(set) var isComplete = true
    /// Whether there are more consumables than are read.
    private(set) var hasMoreConsumables = false

    init(_ identifier: CustomerIdentifier, _ app: Int64, _ db: any Database) throws {
        self.db = db
        self.app = app
        names = [identifier]
        try addSubscriptions(of: [identifier])
        if identifier.account == nil { try addAccounts() } else { try addAccounts(linkedTo: [identifier]) }
        try addIdentifiersLinkedToNames()
        try addSubscriptions(of: names.filter { $0 != identifier })
        try addAnonymousSubscriptions()
        try addConsumables()
    }

    /// The identifiers under which links and facts of the team may be stored.
    var allNames: Set<CustomerIdentifier> {
        names.union(subscriptions.values.map { .originalTransactionID($0.original) }).union(appleAccounts)
    }

    private var appleAccounts: Set<CustomerIdentifier> { Set(subscriptions.values.flatMap(\.appleAccounts)) }

    /// Asks about all identifiers at once.
    private mutating func addSubscriptions(of identifiers: some Collection<CustomerIdentifier>) throws {
        let limit = StoredCustomer.maximumSubscriptions + 1
        let questions = identifiers.flatMap { identifier -> [Question] in
            switch identifier {
            case .applicationUsername: []
            case .appAccountToken, .appTransactionID:
                [IdentifierTable.subscriptions(naming: identifier, app, limit: limit)]
            case .originalTransactionID(let id): [SubscriptionTable.id(of: id, app)]
            case .transactionID(let id): SubscriptionTable.ids(ofTransaction: id, app)
            }
        }
        try add(db.rows(questions).joined().map { try $0["id"] })
    }

    /// Adds purchases while there is room, and reads no more than fit.
    private mutating func add(_ ids: [Int64], onlyAnonymous: Bool = false) throws {
        var seen: Set<Int64> = []
        var rest = ids.filter { subscriptions[$0] == nil && seen.insert($0).inserted }[...]
        while !rest.isEmpty {
            let room = StoredCustomer.maximumSubscriptions - subscriptions.count
            guard room > 0 else { return isComplete = false }
            for (id, purchase) in try found(Array(rest.prefix(room)), onlyAnonymous: onlyAnonymous) {
                subscriptions[id] = purchase
            }
            rest = rest.dropFirst(room)
        }
    }

    /// Reads those purchases that were not found before.
    private func found(_ ids: [Int64], onlyAnonymous: Bool) throws -> [(id: Int64, purchase: Found)] {
        let new = ids.filter { subscriptions[$0] == nil }
        let answers = try db.rows(new.map(SubscriptionTable.original) + new.map { IdentifierTable.identifiers(of: $0) })
        return try new.indices.compactMap { place in
            guard let original = try answers[place].first?.transactionID("original_transaction_id") else { return nil }
            let identifiers = try answers[new.count + place].map(IdentifierTable.identifier)
            let accounts = identifiers.filter { $0.account != nil }
            guard accounts.isEmpty || !onlyAnonymous else { return nil }
            let appleAccounts = identifiers.filter { $0.account == nil }
            return (new[place], Found(original: original, accounts: accounts, appleAccounts: appleAccounts))
        }
    }

    /// Adds the latest consumables of the customer. They matter to nothing but refunds.
    private mutating func addConsumables() throws {
        let limit = StoredCustomer.maximumSubscriptions
        var room = limit
        let searched = names.map { ($0, onlyAnonymous: false) } + appleAccounts.map { ($0, onlyAnonymous: true) }
        let answers = try db.rows(
            searched.map { name, _ in IdentifierTable.consumables(naming: name, app, limit: limit + 1) })
        for ((_, onlyAnonymous), rows) in zip(searched, answers) where !rows.isEmpty {
            if rows.count > room { hasMoreConsumables = true }
            let ids = try rows.prefix(room).map { try $0["id"] as Int64 }
            for (id, purchase) in try found(ids, onlyAnonymous: onlyAnonymous) {
                subscriptions[id] = purchase
                room -= 1
            }
        }
    }

    /// Adds the accounts that the Apple Accounts of the subscriptions have used, and those that they are linked to.
    private mutating func addAccounts() throws {
        try addSubscriptions(of: appleAccounts)
        try addAccounts(linkedTo: allNames)
        names.formUnion(subscriptions.values.flatMap(\.accounts))
    }

    private mutating func addAccounts(linkedTo identifiers: Set<CustomerIdentifier>) throws {
        let rows = try db.rows(identifiers.map { LinkTable.link(of: $0, app) }).joined()
        names.formUnion(try rows.map { CustomerIdentifier(try LinkTable.link($0).account) })
    }

    private mutating func addIdentifiersLinkedToNames() throws {
        let limit = StoredCustomer.maximumSubscriptions
        let rows = try db.rows(
            names.filter { $0.account != nil }.map { LinkTable.links(to: $0, app, limit: limit) }
        ).joined()
        names.formUnion(try rows.map { try LinkTable.link($0).identifier })
    }

    private mutating func addAnonymousSubscriptions() throws {
        let limit = StoredCustomer.maximumSubscriptions + 1
        let rows = try db.rows(
            appleAccounts.map { IdentifierTable.subscriptions(naming: $0, app, limit: limit) }
        ).joined()
        try add(rows.map { try $0["id"] }, onlyAnonymous: true)
    }
}
