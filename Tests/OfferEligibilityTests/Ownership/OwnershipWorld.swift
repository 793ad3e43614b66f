import OfferCore
import OfferEligibility
import TestSupport

@testable import HistoryTestSupport

/// A random world of accounts, Apple Accounts, purchases, links and complete histories, in plain numbers.
///
/// Purchases with an even number have an even number as `appTransactionID`, and so on for accounts: strangers are made by shifting all
/// numbers of another world.
struct OwnershipWorld {
    enum Account: Hashable {
        case token(Int)
        case username(Int)
    }

    enum Name: Hashable {
        case account(Account)
        case appleAccount(Int)
        case purchase(Int)
        case transaction(Int)
    }

    enum Kind: CaseIterable {
        case subscription
        case otherGroup
        case lifetime
        case coins
    }

    struct Transaction {
        let id: Int
        var token: Int?
        let day: Int
        var isRefunded = false
        var redeems = false
    }

    struct Purchase {
        let id: Int
        let kind: Kind
        let appleAccount: Int?
        let ownership: OwnershipType?
        var transactions: [Transaction]
        /// The day of a complete history that contains the purchase; nil for none.
        var historyDay: Int?
    }

    var purchases: [Purchase]
    var links: [Name: Account]
    let policy: OwnershipPolicy
    /// The days for which every notification is known; nil for none.
    let coverage: ClosedRange<Int>?
    let asked: Name?
    let proven: Set<Int>
    let provenAppleAccount: Int?

    static let today = 100

    /// - Parameter offset: added to each number, so that two worlds have nothing in common.
    init(_ random: inout SplitMix64, offset: Int = 0) {
        func some(_ range: ClosedRange<Int>) -> Int { offset + Int.random(in: range, using: &random) }
        func maybe(_ odds: Int) -> Bool { Int.random(in: 0..<odds, using: &random) == 0 }
        var purchases: [Purchase] = []
        let kinds: [OwnershipType?] = [.purchased, .purchased, .purchased, .familyShared, .assigned, nil]
        for number in 1...Int.random(in: 1...6, using: &random) {
            let start = Int.random(in: 0...90, using: &random)
            var transactions: [Transaction] = []
            for period in 0..<Int.random(in: 1...3, using: &random) {
                transactions.append(
                    Transaction(
                        id: offset + number * 10 + period, token: maybe(2) ? some(1...3) : nil,
                        day: start + period * 3, isRefunded: maybe(6), redeems: maybe(6)))
            }
            purchases.append(
                Purchase(
                    id: offset + number * 10, kind: Kind.allCases.randomElement(using: &random) ?? .coins,
                    appleAccount: maybe(5) ? nil : some(1...3), ownership: kinds.randomElement(using: &random) ?? nil,
                    transactions: transactions, historyDay: maybe(2) ? Int.random(in: 95...100, using: &random) : nil))
        }
        self.purchases = purchases
        func account() -> Account { maybe(3) ? .username(some(1...2)) : .token(some(1...3)) }
        var links: [Name: Account] = [:]
        if maybe(3) { links[.purchase(10 * some(1...6))] = account() }
        for purchase in purchases where maybe(8) { links[.purchase(purchase.id)] = account() }
        for purchase in purchases where maybe(12) {
            links[.transaction(purchase.transactions[purchase.transactions.count - 1].id)] = account()
        }
        if maybe(4) { links[.appleAccount(some(1...3))] = account() }
        for name in 1...2 where maybe(3) { links[.account(.username(offset + name))] = .token(some(1...3)) }
        self.links = links
        policy = OwnershipPolicy.allCases.randomElement(using: &random) ?? .first
        coverage = maybe(2) ? Int.random(in: 90...99, using: &random)...Int.random(in: 99...100, using: &random) : nil
        let purchase = purchases.randomElement(using: &random)
        let names: [Name?] = [
            .account(.token(some(1...3))), .account(.username(some(1...2))), .appleAccount(some(1...3)),
            purchase.map { .purchase($0.id) }, purchase.map { .transaction($0.transactions[0].id) }, nil,
        ]
        asked = names.randomElement(using: &random) ?? nil
        // The proofs of a request are of one Apple Account.
        let shown = maybe(2) ? purchases.randomElement(using: &random) : nil
        provenAppleAccount = shown?.appleAccount
        proven = Set(
            [shown].compactMap { $0?.id }
                + purchases.filter { shown != nil && $0.appleAccount == shown?.appleAccount && maybe(3) }.map(\.id))
    }
}

// MARK: As the product reads it

extension OwnershipWorld {
    var facts: [SubscriberFact] { get throws { try purchases.flatMap { try $0.facts } } }

    var customerLinks: [CustomerLink] {
        get throws {
            try links.map { CustomerLink(identifier: try Self.identifier($0), account: try Self.customer($1)) }
        }
    }

    static func identifier(_ name: Name) throws -> CustomerIdentifier {
        switch name {
        case .account(let account): CustomerIdentifier(try customer(account))
        case .appleAccount(let number): .appTransactionID(try TransactionID("A\(number)"))
        case .purchase(let id): .originalTransactionID(try TransactionID("\(id)"))
        case .transaction(let id): .transactionID(try TransactionID("\(id)"))
        }
    }

    static func customer(_ account: Account) throws -> Customer {
        switch account {
        case .token(let number): .appAccountToken(.account(UInt64(number)))
        case .username(let number): try Customer(applicationUsername: Array("user\(number)".utf8))
        }
    }

    /// The purchases that the product counts.
    func counted(_ facts: [SubscriberFact]? = nil, as name: Name?? = nil) throws -> CustomerPurchases {
        try CustomerPurchases(
            of: (name ?? asked).map(Self.identifier), in: facts ?? self.facts, links: customerLinks, by: policy,
            proven: Set(proven.map { try TransactionID("\($0)") }),
            provenAppleAccount: provenAppleAccount.map { try TransactionID("A\($0)") })
    }

    func state(_ facts: [SubscriberFact]) -> SubscriberState {
        SubscriberState(
            facts,
            evidence: HistoryEvidence(
                freshness: .days(1),
                coverage: coverage.map {
                    HistoryEvidence.Coverage(since: .day(Double($0.lowerBound)), until: .day(Double($0.upperBound)))
                }), at: .day(Double(Self.today)))
    }
}

extension OwnershipWorld.Purchase {
    var facts: [SubscriberFact] {
        get throws {
            var facts = try transactions.map { transaction in
                try TestFacts.transaction(
                    "\(transaction.id)", of: "\(id)", Double(transaction.day), Double(transaction.day + 3)
                ) { purchase in
                    switch kind {
                    case .subscription: break
                    case .otherGroup: purchase.subscriptionGroupID = "h"
                    case .lifetime, .coins:
                        var other = Purchase(
                            productID: try ProductID(kind == .coins ? "coins" : "lifetime"),
                            purchaseDate: purchase.purchaseDate)
                        other.type = kind == .coins ? .consumable : .nonConsumable
                        purchase = other
                    }
                    purchase.ownership = ownership
                    purchase.appAccountToken = transaction.token.map { .account(UInt64($0)) }
                    purchase.appTransactionID = try appleAccount.map { try TransactionID("A\($0)") }
                    if transaction.isRefunded {
                        purchase.revocation = Revocation(date: .day(Double(transaction.day + 1)))
                    }
                    if transaction.redeems {
                        purchase.offer = AppliedOffer(
                            type: .promotional, identifier: "half", discountType: .payUpFront)
                    }
                }
            }
            if let historyDay {
                facts.append(
                    try TestFacts.fact(.wholeHistory("r"), "\(id)", of: "\(id)", signed: .day(Double(historyDay))))
            }
            return facts
        }
    }
}
