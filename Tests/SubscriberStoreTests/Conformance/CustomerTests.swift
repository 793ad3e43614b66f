import OfferCore
import OfferEligibility
import StoreTestSupport
import SubscriberStore
import Testing

@Suite("A store finds customers")
struct CustomerTests {
    private static let username = CustomerIdentifier.applicationUsername(Sample.text("user-1"))

    @Test("a customer is found by every identifier in signed data", arguments: StoreEngine.all)
    func everyIdentifier(engine: StoreEngine) async throws {
        try await engine.withStore { store in
            let facts = [
                Sample.transaction("1", of: "1") {
                    $0.appAccountToken = Sample.token(1)
                    $0.appTransactionID = Sample.id("A")
                }, Sample.transaction("2", of: "1", 30, 60), Sample.status(1, of: "1", signed: 0),
            ]
            try await store.merge(facts, in: Sample.production)
            try await store.merge(Sample.facts(2), in: Sample.production)
            let identifiers: [CustomerIdentifier] = [
                Sample.account(1), .appTransactionID(Sample.id("A")), .originalTransactionID(Sample.id("1")),
                .transactionID(Sample.id("1")), .transactionID(Sample.id("2")),
            ]
            for identifier in identifiers {
                #expect(Set(try await store.customer(identifier)?.facts ?? []) == Set(facts), "\(identifier)")
            }
            #expect(try await store.customer(.originalTransactionID(Sample.id("2"))) == nil)
            #expect(try await store.customer(Self.username) == nil)
        }
    }

    @Test(
        "a transaction leads to the other subscriptions of its Apple Account, and to no other",
        arguments: StoreEngine.all)
    func sameAppleAccount(engine: StoreEngine) async throws {
        try await engine.withStore { store in
            try await self.add("1", account: 1, appleAccount: "A", to: store)
            try await self.add("2", account: 1, appleAccount: "A", to: store)
            try await self.add("3", account: 1, appleAccount: "B", to: store)
            try await self.add("4", account: 1, appleAccount: nil, to: store)
            #expect(try await self.originals(.transactionID(Sample.id("2")), store) == ["1", "2"])
            #expect(try await self.originals(.transactionID(Sample.id("4")), store) == ["4"])
            #expect(try await self.originals(Sample.account(1), store) == ["1", "2", "3", "4"])
        }
    }

    @Test("everything that proofs show is read, with the purchases of their Apple Account", arguments: StoreEngine.all)
    func proven(engine: StoreEngine) async throws {
        try await engine.withStore { store in
            try await self.add("1", account: 1, appleAccount: "A", to: store)
            try await self.add("9", account: nil, appleAccount: "B", to: store)
            try await self.add("8", account: nil, appleAccount: "B", to: store)
            try await self.add("7", account: 2, appleAccount: "B", to: store)
            try await self.add("6", account: 2, appleAccount: "C", to: store)
            let padding = (100..<300).map { Sample.id("\($0)") }
            func found(_ query: CustomerQuery) async throws -> [String] {
                let customer = try await store.customers(query, bundleID: Sample.bundleID, environment: .production)
                    .first
                #expect(customer?.isComplete == true)
                return Set((customer?.facts ?? []).map(\.originalTransactionID.text.description)).sorted()
            }
            let shown = CustomerQuery(Sample.account(1), purchases: Set(padding + [Sample.id("9")]))
            #expect(try await found(shown) == ["1", "7", "8", "9"])
            #expect(try await found(CustomerQuery(nil, appleAccounts: [Sample.id("B")])) == ["7", "8", "9"])
        }
    }

    @Test(
        "a customer with more purchases than are read is not complete, whatever proofs show", arguments: StoreEngine.all
    )
    func incomplete(engine: StoreEngine) async throws {
        try await engine.withStore { store in
            let limit = StoredCustomer.maximumSubscriptions
            try await store.merge((0...limit + 1).flatMap { Sample.facts($0, account: 1) }, in: Sample.production)
            let newest = Sample.id("2000000\(100_000_000 + limit + 1)")
            for purchases in [[], [newest]] as [Set<TransactionID>] {
                let customer = try await store.customers(
                    CustomerQuery(Sample.account(1), purchases: purchases), bundleID: Sample.bundleID,
                    environment: .production
                ).first
                #expect(customer?.isComplete == false, "\(purchases.count)")
            }
        }
    }

    @Test("a consumable leads to the anonymous purchases of its Apple Account", arguments: StoreEngine.all)
    func consumable(engine: StoreEngine) async throws {
        try await engine.withStore { store in
            let coins = Sample.transaction("5", of: "5") { purchase in
                purchase = Purchase(productID: purchase.productID, purchaseDate: purchase.purchaseDate)
                purchase.type = .consumable
                purchase.appAccountToken = Sample.token(1)
                purchase.appTransactionID = Sample.id("A")
            }
            try await store.merge([coins], in: Sample.production)
            try await self.add("1", account: nil, appleAccount: "A", to: store)
            #expect(try await self.originals(Sample.account(1), store) == ["1", "5"])
        }
    }

    @Test(
        "an account has the anonymous purchases of its Apple Account, but never another account's",
        arguments: StoreEngine.all)
    func appleAccount(engine: StoreEngine) async throws {
        try await engine.withStore { store in
            try await self.add("1", account: 1, appleAccount: "A", to: store)
            try await self.add("2", account: 2, appleAccount: "A", to: store)
            try await self.add("3", account: nil, appleAccount: "A", to: store)
            try await self.add("4", account: 2, appleAccount: "B", to: store)
            #expect(try await self.originals(Sample.account(1), store) == ["1", "3"])
            #expect(try await self.originals(Sample.account(2), store) == ["2", "3", "4"])
            let appleAccount = CustomerIdentifier.appTransactionID(Sample.id("A"))
            #expect(
                try await self.originals(appleAccount, store) == ["1", "2", "3"], "never on to another Apple Account")
        }
    }

    @Test("a link ties anonymous purchases to an account until a caller removes it", arguments: StoreEngine.all)
    func links(engine: StoreEngine) async throws {
        try await engine.withStore { store in
            try await self.add("1", account: nil, appleAccount: "A", to: store)
            let anonymous = CustomerIdentifier.originalTransactionID(Sample.id("1"))
            let account = try #require(Self.username.account)
            try await store.link(anonymous, to: account, in: Sample.production, at: Sample.day(1))
            #expect(try await self.originals(Self.username, store) == ["1"])
            let link = CustomerLink(identifier: anonymous, account: account)
            for identifier in [Self.username, anonymous, .appTransactionID(Sample.id("A"))] {
                #expect(try await store.customer(identifier)?.links == [link])
            }
            try await store.link(anonymous, to: nil, in: Sample.production, at: Sample.day(2))
            #expect(try await store.customer(Self.username) == nil)
            #expect(try await store.customer(anonymous)?.links == [])
        }
    }

    @Test("what a caller says of a transaction holds for its subscription", arguments: StoreEngine.all)
    func statementsAboutTransactions(engine: StoreEngine) async throws {
        try await engine.withStore { store in
            let facts = [Sample.transaction("1", of: "1"), Sample.transaction("2", of: "1", 30, 60)]
            try await store.merge(facts, in: Sample.production)
            let transaction = CustomerIdentifier.transactionID(Sample.id("2"))
            try await store.link(transaction, to: Self.username.account, in: Sample.production, at: Sample.day(0))
            try await store.setTeamFacts(
                [Sample.text("a"): .bool(true)], of: transaction, in: Sample.production, at: Sample.day(0))
            #expect(try await self.originals(Self.username, store) == ["1"])
            let customer = try await store.customer(.transactionID(Sample.id("1")))
            #expect(customer?.teamFacts.count == 1 && customer?.links.count == 1)
        }
    }

    @Test("a username that is linked to a token is the same customer", arguments: StoreEngine.all)
    func username(engine: StoreEngine) async throws {
        try await engine.withStore { store in
            try await self.add("1", account: 1, appleAccount: nil, to: store)
            let token = try #require(Sample.account(1).account)
            try await store.link(Self.username, to: token, in: Sample.production, at: Sample.day(0))
            #expect(try await self.originals(Self.username, store) == ["1"])
        }
    }

    @Test(
        "facts of the team are set, replaced and removed, also before the customer is seen", arguments: StoreEngine.all)
    func teamFacts(engine: StoreEngine) async throws {
        try await engine.withStore { store in
            let (text, number, flag) = (Sample.text("ticket"), Sample.text("episodes"), Sample.text("isBeta"))
            let account = Sample.account(1)
            try await store.setTeamFacts(
                [text: .text(Array("a\"\u{E9}".utf8)), number: .number(Array("40".utf8)), flag: .bool(true)],
                of: account,
                in: Sample.production, at: Sample.day(0))
            try await store.setTeamFacts(
                [text: nil, number: .number(Array("1.5e3".utf8))], of: account, in: Sample.production,
                at: Sample.day(1))
            let expected: Set = [
                TeamFact(identifier: account, name: number, value: .number(Array("1.5e3".utf8)), setAt: Sample.day(1)),
                TeamFact(identifier: account, name: flag, value: .bool(true), setAt: Sample.day(0)),
            ]
            #expect(Set(try await store.customer(account)?.teamFacts ?? []) == expected)
            try await self.add("1", account: 1, appleAccount: nil, to: store)
            let customer = try await store.customer(.originalTransactionID(Sample.id("1")))
            #expect(Set(customer?.teamFacts ?? []) == expected)
            #expect(try await store.customer(account, .sandbox) == nil)
        }
    }

    @Test(
        "a token that every customer shares is read up to a limit, and the answer says so", arguments: StoreEngine.all)
    func sharedToken(engine: StoreEngine) async throws {
        try await engine.withStore { store in
            let limit = StoredCustomer.maximumSubscriptions
            let facts = (0..<limit).flatMap { Sample.facts($0, account: 1) }
            try await store.merge(facts, in: Sample.production)
            #expect(try await store.customer(Sample.account(1))?.isComplete == true)
            try await store.merge(Sample.facts(limit, account: 1), in: Sample.production)
            let customer = try #require(try await store.customer(Sample.account(1)))
            #expect(!customer.isComplete)
            #expect(Set(customer.facts.map(\.originalTransactionID)).count == limit)
        }
    }

    private func add(
        _ original: String, account: UInt64?, appleAccount: String?, to store: any SubscriberStore
    ) async throws {
        let fact = Sample.transaction(original, of: original) {
            $0.appAccountToken = account.map(Sample.token)
            $0.appTransactionID = appleAccount.map(Sample.id)
        }
        try await store.merge([fact], in: Sample.production)
    }

    private func originals(_ identifier: CustomerIdentifier, _ store: any SubscriberStore) async throws -> Set<String> {
        let facts = try await store.customer(identifier)?.facts ?? []
        return Set(facts.map(\.originalTransactionID.text.description))
    }
}
