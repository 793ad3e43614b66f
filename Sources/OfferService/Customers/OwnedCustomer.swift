import OfferCore
import SubscriberStore

/// What belongs to a customer under the ownership policy of the app.
///
/// To an account belong its own subscriptions, those that a caller has moved to it, and the anonymous ones of its Apple
/// Accounts. Someone who names an identifier of the App Store is shown whatever it leads to.
struct OwnedCustomer {
    let app: AppScope
    let facts: SubscriberFacts
    /// The latest for each name, in the order of the names.
    let teamFacts: [TeamFact]
    let links: [CustomerLink]
    let appAccountToken: UUIDText?
    let applicationUsername: FieldText?
    let appTransactionID: TransactionID?
    /// The account that was asked for, with those that are the same customer's. Empty for an identifier of the App Store.
    let accounts: Set<Customer>
    /// False if the identifier names more subscriptions than the store reads.
    let isComplete: Bool

    /// - Parameters:
    ///   - identifier: the one that was asked for.
    ///   - proven: subscriptions that count as the customer's for this request, whoever owns them.
    /// - Returns: nil if nothing belongs to the customer.
    init?(
        _ stored: StoredCustomer, known identifier: CustomerIdentifier, by policy: OwnershipPolicy,
        alsoOwning proven: Set<TransactionID> = []
    ) {
        let links = LinkedAccounts(stored.links)
        let accounts = identifier.account.map(links.accounts(same:))
        self.accounts = accounts ?? []
        let subscriptions = OwnedSubscription.all(in: stored.facts, links, by: policy)
            .filter { subscription in
                accounts.map(subscription.mayBelong) ?? true || proven.contains(subscription.original)
            }
            .sorted {
                $0.isNamed(by: identifier) != $1.isNamed(by: identifier)
                    ? $0.isNamed(by: identifier) : $0.original.precedes($1.original)
            }
        app = stored.app
        facts = SubscriberFacts(subscriptions.flatMap(\.facts))
        teamFacts = Self.teamFacts(in: stored, of: accounts, subscriptions, identifier)
        self.links = stored.links.filter { link in accounts?.contains(link.account) ?? true }
            .sorted { $0.identifier.precedes($1.identifier) }
        isComplete = stored.isComplete
        guard !facts.isEmpty || !teamFacts.isEmpty || !self.links.isEmpty else { return nil }
        let owners =
            [identifier.account].compactMap(\.self) + subscriptions.flatMap(\.owners) + self.links.map(\.account)
        let token = owners.firstToken ?? links.tokens(of: owners).first
        appAccountToken = token
        applicationUsername = owners.firstUsername ?? token.flatMap { links.usernames(of: .appAccountToken($0)).first }
        if case .appTransactionID(let id) = identifier {
            appTransactionID = id
        } else {
            appTransactionID = subscriptions.lazy.compactMap { $0.latestAppleAccount }.first
        }
    }

    /// What the team says, as rules name it.
    var teamFactsByName: [String: TeamFactValue] {
        Dictionary(teamFacts.map { ($0.name.description, $0.value) }, uniquingKeysWith: { first, _ in first })
    }

    /// The accounts, the subscriptions and the Apple Accounts that hold what is reserved for the customer.
    var holders: [CustomerIdentifier] {
        accounts.map(CustomerIdentifier.init)
            + Set(facts.lazy.map(\.originalTransactionID)).map(CustomerIdentifier.originalTransactionID)
            + Set(facts.lazy.compactMap(\.appTransactionID)).map(CustomerIdentifier.appTransactionID)
    }

    /// Whether one of some subscriptions belongs to another customer than an account's.
    ///
    /// A username appears in no signed data. It is another customer than a token only if the token, or the username, is linked to
    /// someone else.
    static func isAnothers(
        _ originals: Set<TransactionID>, _ stored: StoredCustomer, _ account: Customer, by policy: OwnershipPolicy
    ) -> Bool {
        guard !originals.isEmpty else { return false }
        let links = LinkedAccounts(stored.links)
        let accounts = links.accounts(same: account)
        return OwnedSubscription.all(in: stored.facts, links, by: policy).contains { subscription in
            guard originals.contains(subscription.original), !subscription.mayBelong(to: accounts) else { return false }
            guard case .applicationUsername = account, accounts.count == 1 else { return true }
            return subscription.owners.contains { owner in
                if case .applicationUsername = owner { return true }
                return !links.usernames(of: owner).isEmpty
            }
        }
    }

    /// - Parameter accounts: nil for all that the team says.
    private static func teamFacts(
        in stored: StoredCustomer, of accounts: Set<Customer>?, _ subscriptions: [OwnedSubscription],
        _ identifier: CustomerIdentifier
    ) -> [TeamFact] {
        guard let accounts, !stored.teamFacts.isEmpty else { return latest(stored.teamFacts) }
        let names = Set(subscriptions.flatMap(\.names)).union([identifier])
            .union(accounts.map(CustomerIdentifier.init))
            .union(stored.links.filter { accounts.contains($0.account) }.map(\.identifier))
        return latest(stored.teamFacts.filter { names.contains($0.identifier) })
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

/// The facts about one `originalTransactionId`, and whose they are.
private struct OwnedSubscription {
    let original: TransactionID
    let facts: [SubscriberFact]
    /// Empty if no account owns it.
    let owners: [Customer]

    static func all(in facts: [SubscriberFact], _ links: LinkedAccounts, by policy: OwnershipPolicy) -> [Self] {
        Dictionary(grouping: facts, by: \.originalTransactionID).map { Self($0, $1, links, by: policy) }
    }

    private init(
        _ original: TransactionID, _ facts: [SubscriberFact], _ links: LinkedAccounts, by policy: OwnershipPolicy
    ) {
        self.original = original
        self.facts = facts
        if !links.isEmpty {
            let transactions = Self.transactions(of: facts).map(CustomerIdentifier.transactionID)
            if let moved = ([.originalTransactionID(original)] + transactions).lazy.compactMap({ links[$0] }).first {
                owners = [moved]
                return
            }
        }
        let named = SubscriptionOwners(of: facts, by: policy).accounts.map(Customer.appAccountToken)
        // A link of an Apple Account is about its anonymous purchases. Those that name an account are moved one by one.
        guard named.isEmpty, !links.isEmpty else {
            owners = named
            return
        }
        let linked = Self.appleAccounts(of: facts).lazy.compactMap { links[.appTransactionID($0)] }.first
        owners = linked.map { [$0] } ?? []
    }

    /// Whether the subscription is anonymous, or belongs to one of these accounts.
    func mayBelong(to accounts: Set<Customer>) -> Bool { owners.isEmpty || !accounts.isDisjoint(with: owners) }

    func isNamed(by identifier: CustomerIdentifier) -> Bool { names.contains(identifier) }

    /// The App Store's identifiers for the subscription.
    var names: Set<CustomerIdentifier> {
        Set(
            [.originalTransactionID(original)] + Self.transactions(of: facts).map(CustomerIdentifier.transactionID)
                + Self.appleAccounts(of: facts).map(CustomerIdentifier.appTransactionID))
    }

    /// The latest one that the App Store named comes first.
    private static func appleAccounts(of facts: [SubscriberFact]) -> [TransactionID] {
        facts.sorted { $0.replaces($1) }.compactMap { $0.appTransactionID }
    }

    var latestAppleAccount: TransactionID? {
        facts.lazy.filter { $0.appTransactionID != nil }.max { $1.replaces($0) }?.appTransactionID
    }

    private static func transactions(of facts: [SubscriberFact]) -> [TransactionID] {
        facts.filter { [.transaction, .receiptTransaction, .fetchedTransaction].contains($0.key.kind) }.map(\.key.id)
            .sorted { $0.precedes($1) }
    }
}

/// The accounts that callers have linked identifiers to.
private struct LinkedAccounts {
    private let links: [CustomerLink]

    init(_ links: [CustomerLink]) {
        self.links = links.sorted { $0.identifier.precedes($1.identifier) }
    }

    var isEmpty: Bool { links.isEmpty }

    subscript(identifier: CustomerIdentifier) -> Customer? {
        links.first { $0.identifier == identifier }?.account
    }

    /// An account and the accounts that are the same customer's: the token that a username is linked to, and the usernames
    /// that are linked to a token.
    func accounts(same account: Customer) -> Set<Customer> {
        var accounts: Set<Customer> = [account]
        if let token = self[CustomerIdentifier(account)] { accounts.insert(token) }
        for account in accounts { accounts.formUnion(usernames(of: account).map(Customer.applicationUsername)) }
        return accounts
    }

    /// The usernames that are linked to an account.
    func usernames(of account: Customer) -> [FieldText] {
        links.compactMap { link in
            guard link.account == account, case .applicationUsername(let name) = link.identifier else { return nil }
            return name
        }
    }

    /// The tokens that usernames among these accounts are linked to.
    func tokens(of accounts: [Customer]) -> [UUIDText] {
        accounts.compactMap { self[CustomerIdentifier($0)] }.compactMap { account in
            if case .appAccountToken(let token) = account { token } else { nil }
        }
    }
}

extension [Customer] {
    fileprivate var firstToken: UUIDText? {
        lazy.compactMap { if case .appAccountToken(let token) = $0 { token } else { nil } }.first
    }

    fileprivate var firstUsername: FieldText? {
        lazy.compactMap { if case .applicationUsername(let name) = $0 { name } else { nil } }.first
    }
}

extension CustomerIdentifier {
    /// An order that depends on nothing but the identifiers.
    fileprivate func precedes(_ other: CustomerIdentifier) -> Bool {
        guard kind == other.kind else { return kind.rawValue < other.kind.rawValue }
        return utf8.lexicographicallyPrecedes(other.utf8)
    }
}

extension TeamFact {
    /// Whether this fact counts, rather than one of the same name that was supplied under another identifier.
    fileprivate func replaces(_ other: TeamFact) -> Bool {
        setAt == other.setAt ? other.identifier.precedes(identifier) : setAt > other.setAt
    }
}
