import OfferCore
import OfferEligibility
import StoreTestSupport
import SubscriberStore
import TestSupport
import Testing

@Suite("A store takes in deliveries")
struct IntakeTests {
    @Test("a delivery is applied once, and a repeat changes nothing", arguments: StoreEngine.all)
    func once(engine: StoreEngine) async throws {
        try await engine.withStore { store in
            let first = Sample.delivery("n1", Sample.facts(1), to: ["https://a.example"])
            #expect(try await store.apply(first) == .applied)
            let before = try await store.records()
            let repeated = Sample.delivery(
                "n1", Sample.facts(1, signed: 9), received: 9, body: "other", to: ["https://b.example"])
            #expect(try await store.apply(repeated) == .known)
            #expect(try await store.records() == before)
        }
    }

    @Test("the same notificationUUID in two environments is two notifications", arguments: StoreEngine.all)
    func environments(engine: StoreEngine) async throws {
        try await engine.withStore { store in
            let facts = Sample.facts(1)
            #expect(try await store.apply(Sample.delivery("n1", facts)) == .applied)
            #expect(try await store.apply(Sample.delivery("n1", facts, in: Sample.sandbox)) == .applied)
            let customers = try await store.customers(
                known: Sample.account(1), bundleID: Sample.bundleID, environment: nil)
            #expect(Set(customers.map(\.app)) == [Sample.production, Sample.sandbox])
            for customer in customers { #expect(Set(customer.facts) == Set(facts)) }
            #expect(try await store.customer(Sample.account(1), .sandbox)?.app == Sample.sandbox)
        }
    }

    @Test("a notification without facts is kept, and so is one of an unknown type", arguments: StoreEngine.all)
    func withoutFacts(engine: StoreEngine) async throws {
        try await engine.withStore { store in
            let outcome = try await store.apply(Sample.delivery("test", [], to: ["https://a.example"]))
            #expect(outcome == .applied)
            #expect(try await store.apply(Sample.delivery("test", [])) == .known)
            let payloads = try await store.payloads(after: nil, limit: 9)
            #expect(payloads.map(\.notification.notificationUUID.description) == ["test"])
        }
    }

    @Test("every order and repetition of the same facts ends in the same records", arguments: StoreEngine.all)
    func anyOrder(engine: StoreEngine) async throws {
        var random = SplitMix64(seed: 18)
        let facts = Self.competingFacts
        let expected = try await records(of: facts, engine)
        for _ in 0..<30 {
            let repeats = (0..<10).compactMap { _ in facts.randomElement(using: &random) }
            let shuffled = (facts + repeats).shuffled(using: &random)
            #expect(try await records(of: shuffled, engine) == expected)
        }
    }

    @Test("a store keeps the facts that the pure merge keeps", arguments: StoreEngine.all)
    func likePureMerge(engine: StoreEngine) async throws {
        let stored = try await engine.withStore { store in
            try await store.merge(Self.competingFacts, in: Sample.production)
            return try await store.customer(.originalTransactionID(Sample.id("1")))?.facts ?? []
        }
        #expect(Set(stored) == Set(SubscriberFacts(Self.competingFacts)))
        #expect(stored.count == 6)
    }

    /// Facts of six keys, with copies that differ in date, in digest alone and in the account that they name.
    private static let competingFacts: [SubscriberFact] = {
        var facts: [SubscriberFact] = []
        for (day, account) in [(0.0, UInt64(1)), (1, 2), (2, 3)] {
            facts.append(Sample.transaction("1", of: "1", signed: day) { $0.appAccountToken = Sample.token(account) })
            facts.append(Sample.transaction("2", of: "1", 30, 60, signed: day) { $0.price = Int64(day) })
            facts.append(Sample.renewal(of: "1", signed: day) { $0.appAccountToken = Sample.token(account + 10) })
            facts.append(Sample.status(Int64(day) + 1, of: "1", signed: 1))
            facts.append(Sample.fact(.refundRequest(.open), "2", of: "1", signed: day))
        }
        let receipt = Sample.transaction("2", of: "1", 30, 60, signed: 5).value
        guard case .transaction(let purchase) = receipt else { return facts }
        for digest in [1, 255, 7] as [UInt8] {
            let bytes = [digest] + Array(repeating: 0, count: 31)
            facts.append(Sample.fact(.receiptTransaction(purchase), "2", of: "1", signed: 5, digest: bytes))
        }
        return facts
    }()

    private func records(of facts: [SubscriberFact], _ engine: StoreEngine) async throws -> [String] {
        try await engine.withStore { store in
            for fact in facts { try await store.merge([fact], in: Sample.production) }
            var records = try await store.records()
            for account in 1...13 {
                let known = try await store.customer(Sample.account(UInt64(account))) != nil
                records.append("account \(account): \(known)")
            }
            return records
        }
    }
}
