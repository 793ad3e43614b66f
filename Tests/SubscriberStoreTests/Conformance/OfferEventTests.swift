import OfferCore
import OfferEligibility
import StoreTestSupport
import SubscriberStore
import TestSupport
import Testing

@Suite("A store keeps events from apps")
struct OfferEventTests {
    private static let account = Sample.account(1)
    private static let offer = Sample.offer("keep", nonces: [1], expiresAt: 9)

    private static func named(
        _ kind: OfferEvent.Kind, at day: Double, error: String? = nil, of customer: CustomerIdentifier = account
    ) -> OfferEventReport {
        OfferEventReport(
            kind: kind, offer: .named(customer, offer.productID, offer.offerID), at: Sample.day(day), error: error)
    }

    private static func signed(_ kind: OfferEvent.Kind, _ nonce: UInt64 = 1, at day: Double) -> OfferEventReport {
        OfferEventReport(kind: kind, offer: .signed(Sample.nonce(nonce)), at: Sample.day(day))
    }

    private static func record(
        _ reports: [OfferEventReport], in store: any SubscriberStore, onlyOf owner: CustomerIdentifier? = nil,
        of app: AppScope = Sample.production
    ) async throws -> Int {
        try await store.record(reports, of: app, onlyOf: owner).count
    }

    /// Adds a customer who holds a signature.
    private static func reserve(in store: any SubscriberStore) async throws {
        try await store.merge(Sample.facts(1), in: Sample.production)
        let answers = try await store.reserve(Sample.request([offer], at: 1))
        #expect(answers == [.reserved])
    }

    private static func events(_ store: any SubscriberStore) async throws -> [OfferEvent] {
        let events = try await store.customer(account)?.events ?? []
        return events.sorted { ($0.at, $0.kind.rawValue) < ($1.at, $1.kind.rawValue) }
    }

    @Test("an event is kept once, under the account that it or its signature names", arguments: StoreEngine.all)
    func kept(engine: StoreEngine) async throws {
        try await engine.withStore { store in
            try await Self.reserve(in: store)
            let reports = [
                Self.named(.shown, at: 2), Self.signed(.shown, at: 3), Self.named(.failed, at: 4, error: "e"),
            ]
            for _ in 1...2 { #expect(try await Self.record(reports, in: store) == 3) }
            #expect(try await Self.record([Self.signed(.shown, at: 5)], in: store) == 1, "known, whatever its time")
            #expect(try await Self.record([Self.signed(.purchased, at: 5)], in: store) == 1)
            let events = try await Self.events(store)
            #expect(events.map(\.kind) == [.shown, .shown, .failed, .purchased])
            #expect(events.map(\.nonce) == [nil, Sample.nonce(1), nil, Sample.nonce(1)])
            #expect(events.map(\.error) == [nil, nil, "e", nil])
            #expect(Set(events.map(\.subject)) == [.customer(Self.account)])
            #expect(Set(events.map(\.offerID)) == [Self.offer.offerID])
        }
    }

    @Test("unknown signatures and those of other customers are ignored", arguments: StoreEngine.all)
    func ignored(engine: StoreEngine) async throws {
        try await engine.withStore { store in
            try await Self.reserve(in: store)
            #expect(try await Self.record([Self.signed(.shown, 2, at: 1)], in: store) == 0)
            #expect(try await Self.record([Self.signed(.shown, at: 1)], in: store, onlyOf: Sample.account(2)) == 0)
            #expect(try await Self.events(store) == [])
            #expect(try await Self.record([Self.signed(.shown, at: 1)], in: store, onlyOf: Self.account) == 1)
            #expect(try await Self.record([Self.named(.shown, at: 1)], in: store, of: Sample.sandbox) == 1)
            #expect(try await Self.events(store).count == 1, "another environment")
        }
    }

    @Test("of each offer and kind, the first event and the newest are kept", arguments: StoreEngine.all)
    func limit(engine: StoreEngine) async throws {
        try await engine.withStore { store in
            try await Self.reserve(in: store)
            let maximum = OfferEvent.maximumCount
            var reports = (1...maximum + 1).map { Self.named(.shown, at: Double($0)) }
            reports.append(Self.named(.dismissed, at: 0.5))
            #expect(try await Self.record(reports.shuffled(), in: store) == maximum + 2)
            #expect(try await Self.events(store).count == maximum + 2)
            let more = [Self.named(.shown, at: 200), Self.named(.shown, at: 300), Self.named(.shown, at: 0)]
            #expect(try await Self.record(more, in: store) == 3)
            let times = try await Self.events(store).filter { $0.kind == .shown }.map(\.at)
            #expect(times == ([0] + (4...maximum + 1).map(Double.init) + [200, 300]).map(Sample.day))
            #expect(try await Self.events(store).count { $0.kind == .dismissed } == 1)
        }
    }

    @Test("an offer in an answer to the App Store was shown", arguments: StoreEngine.all)
    func retention(engine: StoreEngine) async throws {
        try await engine.withStore { store in
            try await Self.reserve(in: store)
            let original = Sample.facts(1)[0].originalTransactionID
            for answer in [
                Sample.shown(1, of: original, offer: "keep"), Sample.shown(1, of: original, offer: "other"),
                Sample.shown(2, of: original),
            ] {
                try await store.record(answer, in: Sample.production)
            }
            let events = try await Self.events(store)
            #expect(events.map(\.kind) == [.shown] && events[0].offerID == Self.offer.offerID)
            #expect(events[0].subject == .customer(.originalTransactionID(original)))
            let other = Sample.shown(3, of: Sample.id("9"))
            try await store.record(other, in: Sample.production)
            func shown(_ subscriptions: Set<TransactionID>, in app: AppScope) async throws -> Set<RetentionShown> {
                Set(try await store.retentionShown(about: subscriptions, in: app))
            }
            let own: Set = [Sample.shown(1, of: original, offer: "keep"), Sample.shown(2, of: original)]
            #expect(try await shown([original], in: Sample.production) == own)
            #expect(try await shown([original, Sample.id("9")], in: Sample.production) == own.union([other]))
            #expect(try await shown([original], in: Sample.sandbox) == [])
            #expect(try await shown([], in: Sample.production) == [])
        }
    }

    @Test("after an erasure, events count without the customer, and an export has them", arguments: StoreEngine.all)
    func erased(engine: StoreEngine) async throws {
        try await engine.withStore { store in
            try await Self.reserve(in: store)
            let reports = [Self.named(.failed, at: 2, error: "e"), Self.signed(.shown, at: 3)]
            #expect(try await Self.record(reports, in: store) == 2)
            func exported() async throws -> [String] {
                try await store.records().filter { $0.contains(#""record":"offerEvent""#) }
            }
            let before = try await exported()
            #expect(before.count == 2 && before.allSatisfy { $0.contains("appAccountToken") })
            _ = try await store.erase(Self.account, in: Sample.production)
            let after = try await exported()
            let nonce = "\(Sample.nonce(1))"
            #expect(before.contains { $0.contains(nonce) })
            #expect(after.count == 2 && !after.contains { $0.contains("appAccountToken") || $0.contains(nonce) })
        }
    }
}
