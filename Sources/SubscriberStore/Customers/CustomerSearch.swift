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
        try addSubscriptions(of: identifier)
        if identifier.account == nil { try addAccounts() } else { try addAccountLinked(to: identifier) }
        for name in names { try addIdentifiers(linkedTo: name) }
        for name in names where name != identifier { try addSubscriptions(of: name) }
        try addAnonymousSubscriptions()
        try addConsumables()
    }

    /// The identifiers under which links and facts of the team may be stored.
    var allNames: Set<CustomerIdentifier> {
        names.union(subscriptions.values.map { .originalTransactionID($0.original) }).union(appleAccounts)
    }

    private var appleAccounts: Set<CustomerIdentifier> { Set(subscriptions.values.flatMap(\.appleAccounts)) }

    private mutating func addSubscriptions(of identifier: CustomerIdentifier) throws {
        let limit = StoredCustomer.maximumSubscriptions + 1
        switch identifier {
        case .applicationUsername: return
        case .appAccountToken, .appTransactionID:
            try add(IdentifierTable.subscriptions(naming: identifier, app, limit: limit, db))
        case .originalTransactionID(let id):
            try add(SubscriptionTable.id(of: id, app, db).map { [$0] } ?? [])
        case .transactionID(let id):
            try add(SubscriptionTable.ids(ofTransaction: id, app, db))
        }
    }

    private mutating func add(_ found: [Int64], onlyAnonymous: Bool = false) throws {
        for id in found where subscriptions[id] == nil {
            guard subscriptions.count < StoredCustomer.maximumSubscriptions else { return isComplete = false }
            if let purchase = try self.found(id, onlyAnonymous: onlyAnonymous) { subscriptions[id] = purchase }
        }
    }

    private func found(_ id: Int64, onlyAnonymous: Bool) throws -> Found? {
        guard let original = try SubscriptionTable.original(id, db) else { return nil }
        let identifiers = try IdentifierTable.identifiers(of: id, db)
        let accounts = identifiers.filter { $0.account != nil }
        guard accounts.isEmpty || !onlyAnonymous else { return nil }
        return Found(original: original, accounts: accounts, appleAccounts: identifiers.filter { $0.account == nil })
    }

    /// Adds the latest consumables of the customer. They matter to nothing but refunds.
    private mutating func addConsumables() throws {
        let limit = StoredCustomer.maximumSubscriptions
        var room = limit
        for (name, onlyAnonymous) in names.map({ ($0, false) }) + appleAccounts.map({ ($0, true) }) {
            let found = try IdentifierTable.consumables(naming: name, app, limit: limit + 1, db)
            if found.count > room { hasMoreConsumables = true }
            for id in found.prefix(room) where subscriptions[id] == nil {
                guard let purchase = try self.found(id, onlyAnonymous: onlyAnonymous) else { continue }
                subscriptions[id] = purchase
                room -= 1
            }
        }
    }

    /// Adds the accounts that the Apple Accounts of the subscriptions have used, and those that they are linked to.
    private mutating func addAccounts() throws {
        for appleAccount in appleAccounts { try addSubscriptions(of: appleAccount) }
        for name in allNames { try addAccountLinked(to: name) }
        names.formUnion(subscriptions.values.flatMap(\.accounts))
    }

    private mutating func addAccountLinked(to name: CustomerIdentifier) throws {
        if let link = try LinkTable.link(of: name, app, db) { names.insert(CustomerIdentifier(link.account)) }
    }

    private mutating func addIdentifiers(linkedTo name: CustomerIdentifier) throws {
        guard name.account != nil else { return }
        let limit = StoredCustomer.maximumSubscriptions
        names.formUnion(try LinkTable.links(to: name, app, limit: limit, db).map(\.identifier))
    }

    private mutating func addAnonymousSubscriptions() throws {
        let limit = StoredCustomer.maximumSubscriptions + 1
        for appleAccount in appleAccounts {
            let found = try IdentifierTable.subscriptions(naming: appleAccount, app, limit: limit, db)
            try add(found, onlyAnonymous: true)
        }
    }
}
