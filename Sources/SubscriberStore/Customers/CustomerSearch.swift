import OfferCore
import OfferEligibility

/// A search for the purchases that may count for a customer, with a bounded number of index look-ups.
///
/// It may find purchases that do not count, but omits none that do, unless ``isComplete`` is false.
/// ``CustomerPurchases`` decides which ones count. An account leads to its purchases, to linked identifiers, and to the
/// anonymous purchases of their Apple Accounts. Every other identifier leads to one Apple Account and its purchases. No
/// step leads from an Apple Account to an account and its other purchases.
struct CustomerSearch {
    struct Found {
        let original: TransactionID
        /// The accounts named by facts about the subscription.
        let accounts: [CustomerIdentifier]
        let appleAccounts: [CustomerIdentifier]
    }

    private let db: any Database
    private let app: Int64
    /// The customer's identifiers, except those of the purchases: the requested identifier, its accounts, and the
    /// identifiers linked to them.
    private(set) var names: Set<CustomerIdentifier>
    /// The accounts that may own purchases in proofs, with the usernames linked to them.
    private var othersNames: Set<CustomerIdentifier> = []
    /// The purchases by number. Consumables are included only if proofs show them.
    private var lasting: [Int64: Found] = [:]
    private var consumables: [Int64: Found] = [:]
    /// False if the customer has more purchases or links than are read. Consumables do not count.
    private(set) var isComplete = true
    /// True if the customer has more consumables than are read.
    private(set) var hasMoreConsumables = false
    /// The purchases found for each account and Apple Account that was queried.
    private var purchases: [CustomerIdentifier: Purchases] = [:]
    /// The maximum number of purchases to read.
    private let maximum: Int
    /// True if proofs show purchases.
    let hasProofs: Bool

    /// The purchases whose facts name an identifier, latest first.
    private struct Purchases {
        var lasting: [Int64] = []
        var consumables: [Int64] = []
    }

    init(_ query: CustomerQuery, _ app: Int64, _ db: any Database) throws {
        self.db = db
        self.app = app
        names = Set([query.identifier].compactMap(\.self))
        hasProofs = !query.purchases.isEmpty
        maximum = StoredCustomer.maximumSubscriptions + query.purchases.count
        let proven = try addProven(query.purchases)
        // The Apple Accounts of which all purchases are read, and those of which only anonymous purchases are read.
        var (whole, anonymous): (Set<CustomerIdentifier>, Set<CustomerIdentifier>) = (appleAccounts, [])
        whole.formUnion(query.appleAccounts.map(CustomerIdentifier.appTransactionID))
        if let identifier = query.identifier {
            let named = try add(purchases(of: [identifier]))
            if identifier.account == nil {
                whole.formUnion(named.flatMap(\.appleAccounts))
                try addOwners(of: named)
            } else {
                try addLinks(ofAndTo: identifier)
                try add(purchases(of: names.subtracting([identifier])))
                // Consumables also lead to the anonymous purchases of their Apple Account.
                anonymous.formUnion(subscriptions.values.flatMap(\.appleAccounts))
            }
        }
        try addOthersNames(of: proven)
        try addPurchases(ofAppleAccounts: whole, onlyAnonymous: false)
        try addPurchases(ofAppleAccounts: anonymous.subtracting(whole), onlyAnonymous: true)
    }

    /// The purchases by number, including consumables.
    var subscriptions: [Int64: Found] { lasting.merging(consumables) { purchase, _ in purchase } }

    /// The identifiers under which links and team facts may be stored.
    var allNames: Set<CustomerIdentifier> {
        names.union(othersNames).union(subscriptions.values.map { .originalTransactionID($0.original) }).union(
            subscriptions.values.flatMap(\.appleAccounts))
    }

    private var appleAccounts: Set<CustomerIdentifier> { Set(lasting.values.flatMap(\.appleAccounts)) }

    /// Returns the accounts that may own a subscription, or for which it may count if it is anonymous.
    static func possibleAccounts(
        of original: TransactionID, numbered id: Int64, _ app: Int64, _ db: any Database
    ) throws -> [CustomerIdentifier] {
        let own = try IdentifierTable.identifiers(of: id, db)
        let appleAccounts = own.filter { $0.account == nil }
        let named = [.originalTransactionID(original)] + appleAccounts
        var accounts = Set(own.filter { $0.account != nil })
        accounts.formUnion(
            try db.rows(LinkTable.links(of: named, app)).joined().map {
                CustomerIdentifier(try LinkTable.link($0).account)
            })
        if accounts.isEmpty, !appleAccounts.isEmpty {
            let search = try CustomerSearch(CustomerQuery(.originalTransactionID(original)), app, db)
            accounts.formUnion(search.subscriptions.values.flatMap(\.accounts))
            let others = search.subscriptions.values.map { CustomerIdentifier.originalTransactionID($0.original) }
            accounts.formUnion(
                try db.rows(LinkTable.links(of: others, app)).joined()
                    .map { CustomerIdentifier(try LinkTable.link($0).account) })
        }
        return accounts.sorted { $0.precedes($1) }
    }

    /// Returns the numbers of the purchases with these identifiers. For an account or Apple Account, consumables are
    /// omitted.
    private mutating func purchases(of identifiers: some Collection<CustomerIdentifier>) throws -> [Int64] {
        let questions = identifiers.flatMap { identifier -> [Query] in
            switch identifier {
            case .appAccountToken, .appTransactionID, .applicationUsername: []
            case .originalTransactionID(let id): [SubscriptionTable.id(of: id, app)]
            case .transactionID(let id): SubscriptionTable.ids(ofTransaction: id, app)
            }
        }
        let ids = try db.rows(questions).joined().map { try $0["id"] as Int64 }
        try ask(about: identifiers)
        try addConsumables(of: identifiers.filter { $0.account != nil }, onlyAnonymous: false)
        return ids + identifiers.flatMap { purchases[$0]?.lasting ?? [] }
    }

    /// Queries the purchases of each account and Apple Account, unless they were queried before.
    private mutating func ask(about identifiers: some Collection<CustomerIdentifier>) throws {
        let new = identifiers.filter { identifier in
            switch identifier {
            case .appAccountToken, .appTransactionID: purchases[identifier] == nil
            // Signed data contains no username, and the other two identify purchases directly.
            case .applicationUsername, .originalTransactionID, .transactionID: false
            }
        }
        let limit = maximum + 1
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
            // The limit was reached, so there may be more.
            if found.lasting.count >= limit { isComplete = false }
            if found.consumables.count >= limit { hasMoreConsumables = true }
            purchases[identifier] = found
        }
    }

    /// Adds the purchases that proofs show.
    private mutating func addProven(_ originals: Set<TransactionID>) throws -> [Found] {
        let questions = originals.sorted { $0.precedes($1) }.map { SubscriptionTable.id(of: $0, app) }
        return try add(db.rows(questions).joined().map { try $0["id"] })
    }

    /// Reads and adds purchases, up to ``maximum`` in total.
    /// - Returns: the purchases from `ids` that were read, now or earlier.
    @discardableResult
    private mutating func add(_ ids: [Int64], onlyAnonymous: Bool = false) throws -> [Found] {
        var seen: Set<Int64> = []
        var rest = ids.filter { lasting[$0] == nil && seen.insert($0).inserted }[...]
        while !rest.isEmpty {
            let room = maximum - lasting.count
            guard room > 0 else {
                isComplete = false
                break
            }
            for (id, purchase) in try found(Array(rest.prefix(room)), onlyAnonymous: onlyAnonymous) {
                lasting[id] = purchase
            }
            rest = rest.dropFirst(room)
        }
        return Set(ids).compactMap { lasting[$0] }
    }

    /// Reads the purchases that have not been read yet.
    private func found(_ ids: [Int64], onlyAnonymous: Bool) throws -> [(id: Int64, purchase: Found)] {
        let new = ids.filter { lasting[$0] == nil && consumables[$0] == nil }
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

    private mutating func addPurchases(
        ofAppleAccounts appleAccounts: Set<CustomerIdentifier>, onlyAnonymous: Bool
    ) throws {
        try ask(about: appleAccounts)
        try add(appleAccounts.flatMap { purchases[$0]?.lasting ?? [] }, onlyAnonymous: onlyAnonymous)
        try addConsumables(of: appleAccounts, onlyAnonymous: onlyAnonymous)
    }

    /// Adds the latest consumables of accounts or Apple Accounts. They matter only for refunds.
    private mutating func addConsumables(
        of identifiers: some Collection<CustomerIdentifier>, onlyAnonymous: Bool
    ) throws {
        for identifier in identifiers {
            guard let ids = purchases[identifier]?.consumables, !ids.isEmpty else { continue }
            for (id, purchase) in try found(Array(ids.prefix(maximum)), onlyAnonymous: onlyAnonymous) {
                consumables[id] = purchase
            }
        }
    }

    /// Adds the accounts that may own the requested purchases, and the identifiers linked to those accounts.
    private mutating func addOwners(of named: [Found]) throws {
        let identifiers = Set(
            named.map { .originalTransactionID($0.original) } + named.flatMap(\.appleAccounts) + names)
        let links = try db.rows(LinkTable.links(of: identifiers, app)).joined().map(LinkTable.link)
        let owners = Set(named.flatMap(\.accounts) + links.map { CustomerIdentifier($0.account) })
        names.formUnion(owners)
        try addIdentifiers(linkedTo: owners)
    }

    /// Adds the identifiers that show whether purchases in proofs belong to another customer.
    private mutating func addOthersNames(of proven: [Found]) throws {
        guard !proven.isEmpty else { return }
        let named = Set(proven.map { .originalTransactionID($0.original) } + proven.flatMap(\.appleAccounts))
        let linked = try db.rows(LinkTable.links(of: named, app)).joined()
            .map { CustomerIdentifier(try LinkTable.link($0).account) }
        let owners = Set(proven.flatMap(\.accounts) + linked).subtracting(names)
        guard !owners.isEmpty else { return }
        othersNames = owners.union(try identifiers(linkedTo: owners).filter { $0.account != nil })
    }

    /// Adds the account that an account is linked to, and the identifiers linked to either account.
    private mutating func addLinks(ofAndTo account: CustomerIdentifier) throws {
        let links = try db.rows([LinkTable.links(ofAndTo: account, app, limit: Self.linkLimit)]).joined()
            .map(LinkTable.link)
        if links.count >= Self.linkLimit { isComplete = false }
        let own = Set(links.filter { $0.identifier == account }.map { CustomerIdentifier($0.account) })
        names.formUnion(own)
        names.formUnion(links.map(\.identifier))
        try addIdentifiers(linkedTo: own.subtracting([account]))
    }

    private mutating func addIdentifiers(linkedTo accounts: Set<CustomerIdentifier>) throws {
        names.formUnion(try identifiers(linkedTo: accounts))
    }

    private mutating func identifiers(linkedTo accounts: Set<CustomerIdentifier>) throws -> [CustomerIdentifier] {
        let answers = try db.rows(accounts.map { LinkTable.links(to: $0, app, limit: Self.linkLimit) })
        if answers.contains(where: { $0.count >= Self.linkLimit }) { isComplete = false }
        return try answers.joined().map { try LinkTable.link($0).identifier }
    }

    private static let linkLimit = StoredCustomer.maximumSubscriptions + 1
}
