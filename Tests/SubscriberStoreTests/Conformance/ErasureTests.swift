import NIOConcurrencyHelpers
import OfferCore
import OfferEligibility
import StoreTestSupport
import SubscriberStore
import Testing

@Suite("A store erases customers")
struct ErasureTests {
    @Test("an erased customer leaves nothing but counts", arguments: StoreEngine.all)
    func everything(engine: StoreEngine) async throws {
        try await engine.withStore { store in
            try await self.fill(store, 1)
            let alone = try await store.records()
            try await self.fill(store, 2)
            let erasure = try await store.erase(Sample.account(2), in: Sample.production)
            #expect(erasure == Erasure(subscriptions: 1, payloads: 1))
            #expect(try await store.customer(Sample.account(2)) == nil)
            let left = Set(try await store.records()).symmetricDifference(alone)
            #expect(left.filter { !$0.contains("\"intake\"") && !$0.contains("\"notificationUUID\":\"n2\"") } == [])
            #expect(left.allSatisfy { !$0.contains("body") })
            let intake = try #require(try await store.intakes().first)
            #expect(intake.subscriptions == 2 && intake.erasedSubscriptions == 1 && intake.notifications == 2)
            #expect(try await store.receivers().map(\.pending) == [1])
        }
    }

    @Test("a notification that is delivered again after an erasure brings nothing back", arguments: StoreEngine.all)
    func repeatedDelivery(engine: StoreEngine) async throws {
        try await engine.withStore { store in
            try await self.fill(store, 1)
            _ = try await store.erase(Sample.account(1), in: Sample.production)
            #expect(try await store.apply(Sample.delivery("n1", Sample.facts(1))) == .known)
            #expect(try await store.customer(Sample.account(1)) == nil)
        }
    }

    @Test("a customer is erased by any identifier", arguments: StoreEngine.all)
    func anyIdentifier(engine: StoreEngine) async throws {
        let identifiers: [CustomerIdentifier] = [
            .originalTransactionID(Sample.id("2000000100000001")), .transactionID(Sample.id("2000000100000001")),
            .appTransactionID(Sample.id("7041234567890100000001")), .applicationUsername(Sample.text("user-1")),
        ]
        for identifier in identifiers {
            try await engine.withStore { store in
                try await self.fill(store, 1)
                #expect(try await store.erase(identifier, in: Sample.production).subscriptions == 1, "\(identifier)")
                #expect(try await store.customer(Sample.account(1)) == nil)
                #expect(try await store.customer(identifier) == nil)
            }
        }
    }

    @Test(
        "a subscription that another account has used too loses only what names the erased one",
        arguments: StoreEngine.all)
    func sharedSubscription(engine: StoreEngine) async throws {
        try await engine.withStore { store in
            let first = Sample.transaction("1", of: "1") { $0.appAccountToken = Sample.token(1) }
            let second = Sample.transaction("2", of: "1", 30, 60) { $0.appAccountToken = Sample.token(2) }
            try await store.merge([first, second, Sample.status(1, of: "1", signed: 0)], in: Sample.production)
            #expect(try await store.erase(Sample.account(1), in: Sample.production).subscriptions == 0)
            #expect(try await store.customer(Sample.account(1)) == nil)
            let left = try await store.customer(Sample.account(2))?.facts ?? []
            #expect(Set(left) == [second, Sample.status(1, of: "1", signed: 0)])
        }
    }

    @Test(
        "an erasure by a purchase of a shared Apple Account leaves the accounts that have more",
        arguments: StoreEngine.all)
    func sharedAppleAccount(engine: StoreEngine) async throws {
        // Account 2 has bought once on the Apple Account of the customer, who has an anonymous purchase and account 1.
        let (shared, other) = (Sample.id("70"), Sample.id("71"))
        func facts(_ id: String, _ account: UInt64?, _ appleAccount: TransactionID) -> [SubscriberFact] {
            [
                Sample.transaction(id, of: id) {
                    $0.appAccountToken = account.map(Sample.token)
                    $0.appTransactionID = appleAccount
                }
            ]
        }
        for identifier in [CustomerIdentifier.originalTransactionID(Sample.id("1")), .appTransactionID(shared)] {
            try await engine.withStore { store in
                try await store.merge(
                    facts("1", nil, shared) + facts("2", 1, shared) + facts("3", 2, shared) + facts("4", 2, other),
                    in: Sample.production)
                for account: UInt64 in [1, 2] {
                    try await store.setTeamFacts(
                        [Sample.text("a"): .bool(true)], of: Sample.account(account), in: Sample.production,
                        at: Sample.day(0))
                }
                #expect(try await store.erase(identifier, in: Sample.production).subscriptions == 2, "\(identifier)")
                let left = try await store.customer(Sample.account(2))
                #expect(Set(left?.facts.map(\.originalTransactionID.text.description) ?? []) == ["3", "4"])
                #expect(left?.teamFacts.count == 1)
                #expect(try await store.customer(Sample.account(1)) == nil)
            }
        }
    }

    @Test(
        "what was said about a purchase stays with it when an erasure by it must leave it", arguments: StoreEngine.all)
    func statementsStay(engine: StoreEngine) async throws {
        try await engine.withStore { store in
            for (id, appleAccount) in [("3", "70"), ("4", "71")] {
                let fact = Sample.transaction(id, of: id) {
                    $0.appAccountToken = Sample.token(2)
                    $0.appTransactionID = Sample.id(appleAccount)
                }
                try await store.merge([fact], in: Sample.production)
            }
            let purchase = CustomerIdentifier.originalTransactionID(Sample.id("3"))
            try await store.setTeamFacts(
                [Sample.text("a"): .bool(true)], of: purchase, in: Sample.production, at: Sample.day(0))
            try await store.link(
                purchase, to: .appAccountToken(Sample.token(2)), in: Sample.production, at: Sample.day(0))
            #expect(try await store.erase(purchase, in: Sample.production).subscriptions == 0)
            let left = try await store.customer(Sample.account(2))
            #expect(left?.facts.count == 2 && left?.teamFacts.count == 1 && left?.links.count == 1)
        }
    }

    @Test("an erasure does not reach the other environment", arguments: StoreEngine.all)
    func otherEnvironment(engine: StoreEngine) async throws {
        try await engine.withStore { store in
            for app in [Sample.production, Sample.sandbox] {
                _ = try await store.apply(Sample.delivery("n1", Sample.facts(1), in: app))
            }
            _ = try await store.erase(Sample.account(1), in: Sample.sandbox)
            #expect(try await store.customer(Sample.account(1))?.app == Sample.production)
        }
    }

    @Test(
        "a customer with more purchases than are read at once is erased by any identifier", arguments: StoreEngine.all)
    func many(engine: StoreEngine) async throws {
        let appleAccount = Sample.id("704000")
        let identifiers: [CustomerIdentifier] = [
            Sample.account(1), .appTransactionID(appleAccount), .transactionID(Sample.id("2000000100000000")),
            .applicationUsername(Sample.text("user-1")),
        ]
        for identifier in identifiers {
            try await engine.withStore { store in
                let limit = StoredCustomer.maximumSubscriptions
                let subscriptions = (0...limit).flatMap { Sample.facts($0, account: 1, appleAccount: appleAccount) }
                let coins = (0...limit).map { Self.coin($0, appleAccount) }
                try await store.merge(subscriptions + coins, in: Sample.production)
                let username = CustomerIdentifier.applicationUsername(Sample.text("user-1"))
                try await store.link(
                    username, to: Sample.account(1).account, in: Sample.production, at: Sample.day(0))
                let erasure = try await store.erase(identifier, in: Sample.production)
                #expect(erasure == Erasure(subscriptions: 2 * limit + 2, payloads: 0), "\(identifier)")
                #expect(try await store.records().filter { !$0.contains("\"intake\"") } == [], "\(identifier)")
            }
        }
    }

    @Test("thousands of consumables do not hide a subscription", arguments: StoreEngine.all)
    func consumables(engine: StoreEngine) async throws {
        try await engine.withStore { store in
            let appleAccount = Sample.id("704000")
            try await store.merge(Sample.facts(1, appleAccount: appleAccount), in: Sample.production)
            let coins = (0..<500).map { Self.coin($0, appleAccount) }
            try await store.merge(coins, in: Sample.production)
            for identifier in [Sample.account(1), .appTransactionID(appleAccount)] {
                let customer = try #require(try await store.customer(identifier))
                #expect(customer.isComplete)
                #expect(customer.facts.contains { $0.originalTransactionID == Sample.id("2000000100000001") })
                #expect(customer.facts.contains(coins[499]), "the latest are read")
                #expect(!customer.facts.contains(coins[0]))
            }
        }
    }

    @Test("an export and an import keep consumables apart", arguments: StoreEngine.all)
    func movedConsumables(engine: StoreEngine) async throws {
        try await engine.withStore { store in
            let coins = (0..<300).map { Self.coin($0, Sample.id("704000")) }
            try await store.merge(Sample.facts(1) + coins, in: Sample.production)
            let records = NIOLockedValueBox<[StoreRecord]>([])
            try await store.forEachRecord { record in records.withLockedValue { $0.append(record) } }
            try await engine.withStore { other in
                try await other.add(records.withLockedValue { $0 })
                #expect(try await other.customer(Sample.account(1))?.isComplete == true)
                #expect(try await other.records() == store.records())
            }
        }
    }

    /// A consumable that the account with the number 1 has bought.
    private static func coin(_ number: Int, _ appleAccount: TransactionID) -> SubscriberFact {
        let id = "3000000\(100_000 + number)"
        return Sample.transaction(id, of: id) {
            $0.type = .consumable
            $0.expiresDate = nil
            $0.subscriptionGroupID = nil
            $0.appAccountToken = Sample.token(1)
            $0.appTransactionID = appleAccount
        }
    }

    @Test("the same JWS does not bring an erased account's token back", arguments: StoreEngine.all)
    func sentAgain(engine: StoreEngine) async throws {
        try await engine.withStore { store in
            try await store.merge(Sample.facts(1), in: Sample.production)
            let original = CustomerIdentifier.originalTransactionID(Sample.id("2000000100000001"))
            try await store.link(original, to: Sample.account(2).account, in: Sample.production, at: Sample.day(0))
            _ = try await store.erase(Sample.account(1), in: Sample.production)
            try await store.merge(Sample.facts(1), in: Sample.production)
            let facts = try await store.customer(Sample.account(2))?.facts ?? []
            #expect(facts.count == 3 && facts.allSatisfy { $0.appAccountToken == nil })
        }
    }

    @Test(
        "a subscription that was moved to another account outlives the erasure of the first one",
        arguments: StoreEngine.all)
    func moved(engine: StoreEngine) async throws {
        try await engine.withStore { store in
            try await store.merge(Sample.facts(1), in: Sample.production)
            let original = CustomerIdentifier.originalTransactionID(Sample.id("2000000100000001"))
            try await store.link(original, to: Sample.account(2).account, in: Sample.production, at: Sample.day(0))
            #expect(try await store.erase(Sample.account(1), in: Sample.production).subscriptions == 0)
            #expect(try await store.customer(Sample.account(1)) == nil)
            let left = try #require(try await store.customer(Sample.account(2)))
            #expect(left.facts.count == 3 && left.links.count == 1)
            #expect(left.facts.allSatisfy { $0.appAccountToken == nil })
            #expect(try await store.erase(Sample.account(2), in: Sample.production).subscriptions == 1)
            #expect(try await store.records().filter { !$0.contains("\"intake\"") } == [])
        }
    }

    @Test(
        "what was said about a transaction before it was known belongs to its subscription, and is erased with it",
        arguments: StoreEngine.all)
    func statementsBefore(engine: StoreEngine) async throws {
        try await engine.withStore { store in
            let renewal = CustomerIdentifier.transactionID(Sample.id("2"))
            let values: [FieldText: TeamFactValue?] = [Sample.text("a"): .bool(true)]
            try await store.setTeamFacts(values, of: renewal, in: Sample.production, at: Sample.day(0))
            try await store.link(renewal, to: Sample.account(7).account, in: Sample.production, at: Sample.day(0))
            try await store.merge(
                [Sample.transaction("1", of: "1"), Sample.transaction("2", of: "1", 30, 60)], in: Sample.production)
            let original = CustomerIdentifier.originalTransactionID(Sample.id("1"))
            let customer = try #require(try await store.customer(original))
            #expect(customer.teamFacts.map(\.identifier) == [original])
            #expect(customer.links.map(\.identifier) == [original])
            _ = try await store.erase(original, in: Sample.production)
            #expect(try await store.records().filter { !$0.contains("\"intake\"") } == [])
        }
    }

    /// Adds a customer with everything that a store can hold.
    private func fill(_ store: any SubscriberStore, _ number: Int) async throws {
        _ = try await store.apply(
            Sample.delivery("n\(number)", Sample.facts(number), to: ["https://a.example"]))
        let account = Sample.account(UInt64(number))
        let username = CustomerIdentifier.applicationUsername(Sample.text("user-\(number)"))
        try await store.setTeamFacts(
            [Sample.text("a"): .bool(true)], of: account, in: Sample.production, tracking: [Sample.text("a")],
            at: Sample.day(0))
        try await store.setTeamFacts(
            [Sample.text("b"): .bool(true)], of: username, in: Sample.production, at: Sample.day(0))
        try await store.link(username, to: account.account, in: Sample.production, at: Sample.day(0))
    }
}
