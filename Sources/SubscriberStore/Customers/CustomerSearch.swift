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
    /// What each account and Apple Account that was asked about names.
    private var purchases: [CustomerIdentifier: Purchases] = [:]

    /// The purchases in whose facts an identifier is named, the latest first.
    private struct Purchases {
        var lasting: [Int64] = []
        var consumables: [Int64] = []
    }

    init(_ identifier: CustomerIdentifier, _ app: Int64, _ db: any Database) throws {
        try self.init(identifier, app, db) { search throws in try search.addSubscriptions(of: [identifier]) }
    }

    /// Begins with a subscription whose number is known.
    init(_ original: TransactionID, numbered id: Int64, _ app: Int64, _ db: any Database) throws {
        try self.init(.originalTransactionID(original), app, db) { search throws in try search.add([id]) }
    }

    private init(
        _ identifier: CustomerIdentifier, _ app: Int64, _ db: any Database, beginning: (inout Self) throws -> Void
    ) throws {
        self.db = db
        self.app = app
        names = [identifier]
        try beginning(&self)
        if identifier.account == nil {
            try addAccounts()
            try addIdentifiers(linkedTo: names.filter { $0.account != nil })
        } else {
            try addLinks(ofAndTo: identifier)
        }
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
        let questions = identifiers.flatMap { identifier -> [Question] in
            switch identifier {
            case .appAccountToken, .appTransactionID, .applicationUsername: []
            case .originalTransactionID(let id): [SubscriptionTable.id(of: id, app)]
            case .transactionID(let id): SubscriptionTable.ids(ofTransaction: id, app)
            }
        }
        let ids = try db.rows(questions).joined().map { try $0["id"] as Int64 }
        try add(ids + purchases(naming: identifiers))
    }

    /// The purchases in whose facts accounts and Apple Accounts are named, without consumables.
    private mutating func purchases(naming identifiers: some Collection<CustomerIdentifier>) throws -> [Int64] {
        try ask(about: identifiers)
        return identifiers.flatMap { purchases[$0]?.lasting ?? [] }
    }

    /// Asks about each account and Apple Account once.
    private mutating func ask(about identifiers: some Collection<CustomerIdentifier>) throws {
        let new = identifiers.filter { identifier in
            switch identifier {
            case .appAccountToken, .appTransactionID: purchases[identifier] == nil
            // No signed data names them.
            case .applicationUsername, .originalTransactionID, .transactionID: false
            }
        }
        let limit = StoredCustomer.maximumSubscriptions + 1
        let answers = try db.rows(new.map { IdentifierTable.purchases(naming: $0, app, limit: limit) })
        for (identifier, rows) in zip(new, answers) {
            var found = Purchases()
            for row in rows {
                if try StoredIdentifier.isOfConsumable(kind: row["kind"]) {
                    found.consumables.append(try row["id"])
                } else {
                    found.lasting.append(try row["id"])
                }
            }
            purchases[identifier] = found
        }
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
        let answers = try db.rows(new.map(SubscriptionTable.originalAndIdentifiers))
        return try zip(new, answers).compactMap { id, rows in
            guard let original = try rows.first?.transactionID("original_transaction_id") else { return nil }
            let identifiers = try rows.compactMap(IdentifierTable.identifierIfAny)
            let accounts = identifiers.filter { $0.account != nil }
            guard accounts.isEmpty || !onlyAnonymous else { return nil }
            let appleAccounts = identifiers.filter { $0.account == nil }
            return (id, Found(original: original, accounts: accounts, appleAccounts: appleAccounts))
        }
    }

    /// Adds the latest consumables of the customer. They matter to nothing but refunds.
    private mutating func addConsumables() throws {
        var room = StoredCustomer.maximumSubscriptions
        let searched = names.map { ($0, onlyAnonymous: false) } + appleAccounts.map { ($0, onlyAnonymous: true) }
        try ask(about: searched.map(\.0))
        for (name, onlyAnonymous) in searched {
            guard let ids = purchases[name]?.consumables, !ids.isEmpty else { continue }
            if ids.count > room { hasMoreConsumables = true }
            for (id, purchase) in try found(Array(ids.prefix(room)), onlyAnonymous: onlyAnonymous) {
                subscriptions[id] = purchase
                room -= 1
            }
        }
    }

    /// Adds the accounts that the Apple Accounts of the subscriptions have used, and those that they are linked to.
    private mutating func addAccounts() throws {
        try addSubscriptions(of: appleAccounts)
        let rows = try db.rows(LinkTable.links(of: allNames, app)).joined()
        names.formUnion(try rows.map { CustomerIdentifier(try LinkTable.link($0).account) })
        names.formUnion(subscriptions.values.flatMap(\.accounts))
    }

    /// Adds the account that an account is linked to, and the identifiers that are linked to any of the two.
    private mutating func addLinks(ofAndTo account: CustomerIdentifier) throws {
        let links = try db.rows([LinkTable.links(ofAndTo: account, app, limit: Self.linkLimit)]).joined()
            .map(LinkTable.link)
        let own = Set(links.filter { $0.identifier == account }.map { CustomerIdentifier($0.account) })
        names.formUnion(own)
        names.formUnion(links.map(\.identifier))
        try addIdentifiers(linkedTo: own.subtracting([account]))
    }

    private mutating func addIdentifiers(linkedTo accounts: Set<CustomerIdentifier>) throws {
        let rows = try db.rows(accounts.map { LinkTable.links(to: $0, app, limit: Self.linkLimit) }).joined()
        names.formUnion(try rows.map { try LinkTable.link($0).identifier })
    }

    private static let linkLimit = StoredCustomer.maximumSubscriptions

    private mutating func addAnonymousSubscriptions() throws {
        try add(purchases(naming: appleAccounts), onlyAnonymous: true)
    }
}
