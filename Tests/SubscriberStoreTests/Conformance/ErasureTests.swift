import OfferCore
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
            #expect(erasure == Erasure(subscriptions: 1, payloads: 1, isComplete: true))
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
            let original = CustomerIdentifier.originalTransactionID(Sample.id("1"))
            try await store.link(original, to: Sample.account(2).account, in: Sample.production, at: Sample.day(0))
            #expect(try await store.erase(Sample.account(1), in: Sample.production).subscriptions == 0)
            #expect(try await store.customer(Sample.account(1)) == nil)
            #expect(try await store.customer(Sample.account(2))?.links.count == 1)
            let left = try await store.customer(Sample.account(2))?.facts ?? []
            #expect(Set(left) == [second, Sample.status(1, of: "1", signed: 0)])
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

    @Test("a customer with too many subscriptions for one call is erased by several", arguments: StoreEngine.all)
    func many(engine: StoreEngine) async throws {
        try await engine.withStore { store in
            let limit = StoredCustomer.maximumSubscriptions
            try await store.merge((0...limit).flatMap { Sample.facts($0, account: 1) }, in: Sample.production)
            let first = try await store.erase(Sample.account(1), in: Sample.production)
            #expect(first == Erasure(subscriptions: limit, payloads: 0, isComplete: false))
            let second = try await store.erase(Sample.account(1), in: Sample.production)
            #expect(second == Erasure(subscriptions: 1, payloads: 0, isComplete: true))
        }
    }

    /// Adds a customer with everything that a store can hold.
    private func fill(_ store: any SubscriberStore, _ number: Int) async throws {
        _ = try await store.apply(
            Sample.delivery("n\(number)", Sample.facts(number), to: ["https://a.example"]))
        let account = Sample.account(UInt64(number))
        let username = CustomerIdentifier.applicationUsername(Sample.text("user-\(number)"))
        try await store.setTeamFacts(
            [Sample.text("a"): .bool(true)], of: account, in: Sample.production, at: Sample.day(0))
        try await store.setTeamFacts(
            [Sample.text("b"): .bool(true)], of: username, in: Sample.production, at: Sample.day(0))
        try await store.link(username, to: account.account, in: Sample.production, at: Sample.day(0))
    }
}
