import GRDB
import OfferCore

/// Finds what may belong to a customer, in a fixed number of steps by index.
///
/// It begins with the subscriptions that the identifier names. An identifier of the App Store leads to the accounts that its
/// Apple Account has used. An account leads to what is linked to it and to the anonymous purchases of its Apple Accounts, but
/// never to another account.
struct CustomerSearch {
    private let db: Database
    private let app: Int64
    /// The accounts, and what was asked for or linked.
    private(set) var names: Set<CustomerIdentifier>
    private(set) var subscriptions: Set<Int64> = []
    private(set) var isComplete = true

    init(_ identifier: CustomerIdentifier, _ app: Int64, _ db: Database) throws {
        self.db = db
        self.app = app
        names = [identifier]
        try addSubscriptions(of: identifier)
        if identifier.account == nil { try addAccounts() } else { try addAccountLinked(to: identifier) }
        for name in names { try addIdentifiers(linkedTo: name) }
        for name in names { try addSubscriptions(of: name) }
        try addAnonymousSubscriptions()
    }

    /// The identifiers under which links and facts of the team may be stored.
    func allNames() throws -> Set<CustomerIdentifier> {
        var all = names
        for id in subscriptions {
            if let original = try SubscriptionTable.original(id, db) { all.insert(.originalTransactionID(original)) }
            all.formUnion(try appleAccounts(of: id))
        }
        return all
    }

    private mutating func addSubscriptions(of identifier: CustomerIdentifier) throws {
        let limit = StoredCustomer.maximumSubscriptions + 1
        switch identifier {
        case .applicationUsername: return
        case .appAccountToken, .appTransactionID:
            try add(IdentifierTable.subscriptions(naming: identifier, app, limit: limit, db))
        case .originalTransactionID(let id):
            try add(SubscriptionTable.id(of: id, app, db).map { [$0] } ?? [])
        case .transactionID(let id):
            try add(SubscriptionTable.id(of: id, app, db).map { [$0] } ?? [])
            try add(FactTable.subscriptions(withTransaction: id, app, db))
        }
    }

    private mutating func add(_ found: [Int64]) {
        for id in found where !subscriptions.contains(id) {
            guard subscriptions.count < StoredCustomer.maximumSubscriptions else { return isComplete = false }
            subscriptions.insert(id)
        }
    }

    /// Adds the accounts that the Apple Accounts of the subscriptions have used, and those that they are linked to.
    private mutating func addAccounts() throws {
        for appleAccount in try appleAccounts() { try addSubscriptions(of: appleAccount) }
        for name in try allNames() { try addAccountLinked(to: name) }
        for id in subscriptions { names.formUnion(try accounts(of: id)) }
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
        for appleAccount in try appleAccounts() {
            let found = try IdentifierTable.subscriptions(naming: appleAccount, app, limit: limit, db)
            add(try found.filter { try accounts(of: $0).isEmpty })
        }
    }

    private func appleAccounts() throws -> Set<CustomerIdentifier> {
        try subscriptions.reduce(into: []) { $0.formUnion(try appleAccounts(of: $1)) }
    }

    private func appleAccounts(of subscription: Int64) throws -> [CustomerIdentifier] {
        try IdentifierTable.identifiers(of: subscription, db).filter { $0.account == nil }
    }

    /// The accounts that facts about a subscription have named.
    func accounts(of subscription: Int64) throws -> [CustomerIdentifier] {
        try IdentifierTable.identifiers(of: subscription, db).filter { $0.account != nil }
    }
}
