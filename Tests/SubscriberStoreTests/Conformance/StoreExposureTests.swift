import OfferCore
import OfferEligibility
import StoreTestSupport
import SubscriberStore
import TestSupport
import Testing

@Suite("A store keeps exposures")
struct StoreExposureTests {
    private static let account = Sample.account(1)
    private static let half = Sample.exposure(of: account, .offered)

    private static func heldOut(
        _ offer: String, place: Int, _ limits: OfferLimits = OfferLimits()
    ) -> LedgerRequest.HeldOutOffer {
        let exposure = Sample.exposure(of: account, .heldOut, offer, sample: "s")
        return LedgerRequest.HeldOutOffer(
            productID: exposure.productID, offerID: Sample.offer(offer, nonces: [], expiresAt: 0).offerID,
            limits: limits, place: place,
            exposures: [exposure])
    }

    /// Makes a request for the offer `half`, and returns the recorded arms by offer.
    private static func arms(
        _ store: any SubscriberStore, _ reserving: LedgerRequest.Reserving, nonce: UInt64 = 1,
        _ limits: OfferLimits = OfferLimits(), heldOut: [LedgerRequest.HeldOutOffer] = [], at day: Double = 1
    ) async throws -> [String: Exposure.Arm] {
        let request = LedgerRequest(
            app: Sample.production, facts: Sample.facts(1), holders: [account],
            offers: [Sample.offer("half", limits, nonces: [nonce], expiresAt: day + 1, exposures: [half])],
            reserving: reserving, heldOut: heldOut, at: Sample.day(day))
        _ = try await store.reserve(request)
        let exposures = try await store.customer(account)?.exposures ?? []
        return Dictionary(
            exposures.map { ($0.offerID?.text.description ?? "", $0.arm) }, uniquingKeysWith: { first, _ in first })
    }

    @Test("a reserved offer is an exposure; one that is only allowed or is refused is none", arguments: StoreEngine.all)
    func reserved(engine: StoreEngine) async throws {
        try await engine.withStore { store in
            let arms1 = try await Self.arms(store, .nothing)
            #expect(arms1 == [:])
            let full = OfferLimits(total: 0)
            let arms2 = try await Self.arms(store, .all, full)
            #expect(arms2 == [:])
            let arms3 = try await Self.arms(store, .all)
            #expect(arms3 == ["half": .offered])
            #expect(try await store.customer(Self.account)?.exposures == [Self.half])
        }
    }

    @Test(
        "a held-out offer is an exposure, unless a better one is reserved or its limits refuse it",
        arguments: StoreEngine.all)
    func heldOut(engine: StoreEngine) async throws {
        let offers = [
            Self.heldOut("better", place: 0), Self.heldOut("full", place: 0, OfferLimits(total: 0)),
            Self.heldOut("worse", place: 1),
        ]
        for (reserving, limits, expected) in [
            (.first, OfferLimits(), ["better": .heldOut, "half": .offered]),
            (.all, OfferLimits(), ["better": .heldOut, "half": .offered, "worse": .heldOut]),
            (.first, OfferLimits(total: 0), ["better": .heldOut, "worse": .heldOut]),
        ] as [(LedgerRequest.Reserving, OfferLimits, [String: Exposure.Arm])] {
            try await engine.withStore { store in
                let arms4 = try await Self.arms(store, reserving, limits, heldOut: offers)
                #expect(arms4 == expected)
                let arms5 = try await Self.arms(store, reserving, nonce: 2, limits, heldOut: offers, at: 5)
                #expect(arms5 == expected)
                let exposures = try await store.customer(Self.account)?.exposures ?? []
                #expect(exposures.count == expected.count && Set(exposures.map(\.at)) == [Sample.day(1)])
            }
        }
    }

    @Test(
        "the first answer to a request for a retention message is kept, and an erasure keeps it without the subscription",
        arguments: StoreEngine.all)
    func retentionShown(engine: StoreEngine) async throws {
        try await engine.withStore { store in
            func lines() async throws -> [String] {
                try await store.records().filter { $0.contains(#""record":"retentionShown""#) }
            }
            let original = Sample.facts(1)[0].originalTransactionID
            try await store.merge(Sample.facts(1), in: Sample.production)
            for answer in ["message", "nothing"] {
                try await store.record(Sample.shown(1, of: original, answer: answer), in: Sample.production)
            }
            let before = try await lines()
            #expect(before.count == 1 && before[0].contains(#""answer":"message""#))
            #expect(before[0].contains(original.text.description))
            _ = try await store.erase(Self.account, in: Sample.production)
            let after = try await lines()
            #expect(after.count == 1 && after[0].contains(#""erased":""#))
            #expect(!after[0].contains(original.text.description))
        }
    }

    @Test("a withdrawn reservation takes its exposure with it, and no other", arguments: StoreEngine.all)
    func withdrawn(engine: StoreEngine) async throws {
        try await engine.withStore { store in
            let heldOut = Self.heldOut("other", place: 0)
            _ = try await Self.arms(store, .all, heldOut: [heldOut])
            try await store.withdraw([Sample.offer(nonces: [1], expiresAt: 2).nonces[0]], in: Sample.production)
            let left = try await store.customer(Self.account)?.exposures ?? []
            #expect(left.map(\.arm) == [.heldOut])
            _ = try await Self.arms(store, .all, nonce: 2, at: 3)
            _ = try await Self.arms(store, .all, nonce: 3, at: 4)
            try await store.withdraw([Sample.offer(nonces: [3], expiresAt: 2).nonces[0]], in: Sample.production)
            let both = try await store.customer(Self.account)?.exposures ?? []
            #expect(Set(both.map(\.arm)) == [.heldOut, .offered], "the earlier request's exposure stays")
            _ = try await Self.arms(store, .all, nonce: 4, at: 5)
            try await store.withdraw([Sample.offer(nonces: [2], expiresAt: 2).nonces[0]], in: Sample.production)
            let kept = try await store.customer(Self.account)?.exposures ?? []
            #expect(Set(kept.map(\.arm)) == [.heldOut, .offered], "a later signature relies on it")
        }
    }

    @Test("requests through two processes at once leave one exposure", arguments: StoreEngine.all)
    func concurrent(engine: StoreEngine) async throws {
        try await engine.withSharedStore { stores in
            try await stores[0].merge(Sample.facts(1), in: Sample.production)
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 1...20 as ClosedRange<UInt64> {
                    group.addTask {
                        let offer = Sample.offer(
                            "half", OfferLimits(), nonces: [number], expiresAt: 2, exposures: [Self.half])
                        _ = try await stores[Int(number) % stores.count].reserve(
                            LedgerRequest(
                                app: Sample.production, holders: [Self.account], offers: [offer], reserving: .all,
                                heldOut: [Self.heldOut("other", place: 0)], at: Sample.day(1)))
                    }
                }
                try await group.waitForAll()
            }
            let exposures = try await stores[0].customer(Self.account)?.exposures ?? []
            #expect(exposures.count == 2 && Set(exposures.map(\.arm)) == [.offered, .heldOut])
        }
    }

    @Test("after an erasure, an exposure counts, but names nobody", arguments: StoreEngine.all)
    func erased(engine: StoreEngine) async throws {
        try await engine.withStore { store in
            _ = try await Self.arms(store, .all)
            _ = try await store.erase(Self.account, in: Sample.production)
            #expect(try await store.customer(Self.account) == nil)
            let records = try await store.records().filter { $0.contains(#""record":"exposure""#) }
            #expect(records.count == 1 && records[0].contains(#""erased":""#) && !records[0].contains("customer"))
            let arms6 = try await Self.arms(store, .all, nonce: 2)
            #expect(arms6 == ["half": .offered])
        }
    }
}
