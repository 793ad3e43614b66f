import OfferEligibility
import StoreTestSupport
import SubscriberStore
import Testing

@Suite("What a payload gives when it is read again replaces what it gave")
struct RederivingTests {
    @Test("another value is replaced, but not by an older fact", arguments: StoreEngine.all)
    func value(engine: StoreEngine) async throws {
        try await engine.withStore { store in
            let wrong = Sample.fact(.status(.init(rawValue: 9)), "1", of: "1", signed: 1, digest: digest)
            let right = Sample.fact(.status(.init(rawValue: 2)), "1", of: "1", signed: 1, digest: digest)
            _ = try await store.apply(Sample.delivery("n1", [wrong]))
            try await store.merge([right], in: Sample.production)
            #expect(try await facts(store) == [wrong], "the same signed text is merged only once")
            #expect(try await rederive([right], store) == 0)
            #expect(try await facts(store) == [right])
            let newer = Sample.status(5, of: "1", signed: 2)
            try await store.merge([newer], in: Sample.production)
            #expect(try await rederive([right], store) == 0)
            #expect(try await facts(store) == [newer])
        }
    }

    @Test("a fact that the payload does not give any more is withdrawn", arguments: StoreEngine.all)
    func withdrawal(engine: StoreEngine) async throws {
        try await engine.withStore { store in
            let kept = Sample.transaction("1", of: "1")
            let wrong = Sample.fact(.status(.init(rawValue: 9)), "1", of: "1", signed: 1, digest: digest)
            let other = Sample.renewal(of: "1", signed: 1)
            _ = try await store.apply(Sample.delivery("n1", [kept, wrong]))
            try await store.merge([other], in: Sample.production)
            #expect(try await rederive([kept], silent: [digest], store) == 1)
            #expect(
                try await facts(store) == [kept, other] + other.announcements(beside: []),
                "what comes from elsewhere stays")
            #expect(try await rederive([kept], silent: [digest], store) == 0)
        }
    }

    @Test("a fact under another subscription is withdrawn with all that it brought", arguments: StoreEngine.all)
    func anotherSubscription(engine: StoreEngine) async throws {
        try await engine.withStore { store in
            let wrong = Sample.transaction("1", of: "9") { $0.appAccountToken = Sample.token(9) }
            let right = SubscriberFact(
                wrong.value, transactionID: Sample.id("1"), originalTransactionID: Sample.id("1"),
                signedDate: wrong.signedDate, digest: wrong.digest)
            _ = try await store.apply(Sample.delivery("n1", [wrong]))
            #expect(try await rederive([right], store) == 1)
            #expect(try await facts(store) == [right])
            #expect(try await store.customer(.originalTransactionID(Sample.id("9"))) == nil)
            #expect(try await store.intakes().map(\.subscriptions) == [1])
            let erasure = try await store.erase(.originalTransactionID(Sample.id("1")), in: Sample.production)
            #expect(erasure.payloads == 1, "the payload names the right subscription now")
        }
    }

    @Test("an account that only a withdrawn fact names is forgotten", arguments: StoreEngine.all)
    func identifiers(engine: StoreEngine) async throws {
        try await engine.withStore { store in
            let kept = Sample.renewal(of: "1", signed: 0) { $0.appAccountToken = Sample.token(1) }
            let wrong = Sample.transaction("1", of: "1") {
                $0.appAccountToken = Sample.token(2)
                $0.appTransactionID = Sample.id("77")
            }
            let alsoWrong = Sample.transaction("2", of: "1") { $0.appAccountToken = Sample.token(1) }
            _ = try await store.apply(Sample.delivery("n1", [kept, wrong, alsoWrong]))
            #expect(try await store.customer(Sample.account(2)) != nil)
            #expect(try await rederive([kept], silent: [wrong.digest, alsoWrong.digest], store) == 2)
            #expect(try await store.customer(Sample.account(2)) == nil)
            #expect(try await store.customer(.appTransactionID(Sample.id("77"))) == nil)
            #expect(try await store.customer(Sample.account(1))?.facts == [kept] + kept.announcements(beside: []))
        }
    }

    @Test("what a wrong date displaced comes back when its own payload is read again", arguments: StoreEngine.all)
    func displaced(engine: StoreEngine) async throws {
        try await engine.withStore { store in
            let newest = Sample.status(2, of: "1", signed: 5)
            let right = Sample.fact(.status(.init(rawValue: 1)), "1", of: "1", signed: 1, digest: digest)
            let wrong = Sample.fact(.status(.init(rawValue: 1)), "1", of: "1", signed: 9, digest: digest)
            _ = try await store.apply(Sample.delivery("n1", [newest]))
            _ = try await store.apply(Sample.delivery("n2", [wrong]))
            let payloads = try await store.payloads(after: nil, limit: 9)
            let reread = [Sample.reread(payloads[0], [newest]), Sample.reread(payloads[1], [right])]
            #expect(try await store.rederive(reread) == 1)
            #expect(try await facts(store) == [right])
            #expect(try await store.rederive(reread) == 0)
            #expect(try await facts(store) == [newest])
        }
    }

    @Test("a payload that was erased meanwhile brings nothing back", arguments: StoreEngine.all)
    func erased(engine: StoreEngine) async throws {
        try await engine.withStore { store in
            let fact = Sample.transaction("1", of: "1")
            _ = try await store.apply(Sample.delivery("n1", [fact]))
            let payloads = try await store.payloads(after: nil, limit: 9)
            _ = try await store.erase(.originalTransactionID(Sample.id("1")), in: Sample.production)
            #expect(try await store.rederive([Sample.reread(payloads[0], [fact])]) == 0)
            #expect(try await store.customer(.originalTransactionID(Sample.id("1"))) == nil)
        }
    }

    private let digest = Sample.digest([1])

    /// Reads the only payload again.
    private func rederive(
        _ facts: [SubscriberFact], silent: Set<[UInt8]> = [], _ store: any SubscriberStore
    ) async throws -> Int {
        let payload = try #require(try await store.payloads(after: nil, limit: 9).first)
        return try await store.rederive([Sample.reread(payload, facts, silent: silent)])
    }

    private func facts(_ store: any SubscriberStore) async throws -> [SubscriberFact]? {
        try await store.customer(.originalTransactionID(Sample.id("1")))?.facts
    }
}
