import OfferCore
import OfferEligibility
import StoreTestSupport
import SubscriberStore
import TestSupport
import Testing

@Suite("A store answers a request with a key once")
struct IdempotentRequestTests {
    private static let request = IdempotentRequest(id: [UInt8](repeating: 1, count: 32), digest: [2])
    private static let answer = IdempotentRequest.Answer(status: 200, body: Array("{}".utf8))
    private static let holder = Sample.account(1)

    /// - Parameter owner: the number of the owner.
    private static func claim(_ owner: UInt64, _ request: IdempotentRequest = request) -> IdempotentRequest.Claim {
        IdempotentRequest.Claim(request, owner: UUIDText(high: 5, low: owner))
    }

    /// Claims at a number of seconds after day 1, for ten seconds.
    private static func ask(
        _ store: any SubscriberStore, _ claim: IdempotentRequest.Claim, at seconds: Int = 0
    ) async throws -> IdempotentRequest.ClaimResult {
        let now = Sample.day(1) + .seconds(seconds)
        return try await store.claim(claim, at: now, until: now + .seconds(10))
    }

    private static func reserve(
        _ nonce: UInt64, under claim: IdempotentRequest.Claim, _ store: any SubscriberStore
    ) async throws -> [LedgerResult] {
        let offer = Sample.offer("half", OfferLimits(outstanding: 9), nonces: [nonce], expiresAt: 2)
        return try await store.reserve(
            LedgerRequest(
                app: Sample.production, facts: [Sample.transaction("7", of: "7", 0, 30)], holders: [holder],
                offers: [offer], reserving: .all, at: Sample.day(1), claim: claim))
    }

    private static func keep(_ store: any SubscriberStore, _ claim: IdempotentRequest.Claim) async throws -> Bool {
        try await store.keep(answer, of: claim)
    }

    /// Prunes at a number of seconds after day 1.
    private static func prune(_ store: any SubscriberStore, at seconds: Int) async throws -> Int {
        try await store.pruneIdempotentRequests(before: Sample.day(1) + .seconds(seconds), limit: 9)
    }

    private static func states(_ store: any SubscriberStore) async throws -> [Authorisation.State] {
        try await store.ledgerEntries(of: [holder], in: Sample.production).authorisations.map(\.state)
    }

    @Test("the answer is kept for ten minutes, for this request only", arguments: StoreEngine.all)
    func kept(engine: StoreEngine) async throws {
        try await engine.withStore { store in
            let first = try await Self.ask(store, Self.claim(1))
            #expect(first == .granted)
            #expect(try await Self.ask(store, Self.claim(1)) == .granted, "the change is repeated")
            #expect(try await Self.ask(store, Self.claim(2)) == .inProgress)
            let other = IdempotentRequest(id: Self.request.id, digest: [3])
            #expect(try await Self.ask(store, Self.claim(2, other)) == .keyReused)
            #expect(try await Self.reserve(1, under: Self.claim(1), store) == [.reserved])
            #expect(try await Self.keep(store, Self.claim(2)) == false)
            #expect(try await Self.keep(store, Self.claim(1)))
            #expect(try await Self.keep(store, Self.claim(1)), "the change is repeated")
            for second in [0, 11, 599] {
                #expect(try await Self.ask(store, Self.claim(2), at: second) == .answered(Self.answer))
                #expect(try await Self.ask(store, Self.claim(2, other), at: second) == .keyReused)
            }
            #expect(try await Self.ask(store, Self.claim(2, other), at: 600) == .granted)
            #expect(try await Self.states(store) == [.outstanding], "what was answered stays reserved")
            #expect(try await Self.prune(store, at: 600) == 0)
            #expect(try await Self.prune(store, at: 601) == 0, "it is being answered")
            #expect(try await Self.prune(store, at: 611) == 1)
            #expect(try await Self.ask(store, Self.claim(3)) == .granted)
        }
    }

    @Test("an answer that was kept is not released, because it may have been sent", arguments: StoreEngine.all)
    func keptAndReleased(engine: StoreEngine) async throws {
        try await engine.withStore { store in
            let claimed = try await Self.ask(store, Self.claim(1))
            #expect(claimed == .granted)
            #expect(try await Self.reserve(1, under: Self.claim(1), store) == [.reserved])
            #expect(try await Self.keep(store, Self.claim(1)))
            try await store.release(Self.claim(1))
            #expect(try await Self.ask(store, Self.claim(2)) == .answered(Self.answer))
            #expect(try await Self.states(store) == [.outstanding])
        }
    }

    @Test("after ten minutes, a claim still ends first, and is withdrawn", arguments: StoreEngine.all)
    func endOfTime(engine: StoreEngine) async throws {
        try await engine.withStore { store in
            let claimed = try await Self.ask(store, Self.claim(1))
            #expect(claimed == .granted)
            #expect(try await Self.reserve(1, under: Self.claim(1), store) == [.reserved])
            // The first crashed, and the second began shortly before the end.
            #expect(try await Self.ask(store, Self.claim(2), at: 595) == .takenOver)
            #expect(try await Self.states(store) == [.withdrawn])
            #expect(try await Self.reserve(2, under: Self.claim(2), store) == [.reserved])
            #expect(try await Self.ask(store, Self.claim(3), at: 601) == .inProgress)
            #expect(try await Self.keep(store, Self.claim(2)))
            #expect(try await Self.ask(store, Self.claim(3), at: 1194) == .answered(Self.answer), "ten minutes later")
            #expect(try await Self.ask(store, Self.claim(3), at: 1195) == .granted)
            #expect(try await Self.states(store) == [.withdrawn, .outstanding])
            // A crash, and nothing for a long time.
            #expect(try await Self.reserve(3, under: Self.claim(3), store) == [.reserved])
            #expect(try await Self.ask(store, Self.claim(4), at: 9000) == .takenOver)
            #expect(try await Self.states(store) == [.withdrawn, .outstanding, .withdrawn])
        }
    }

    @Test("whoever takes over withdraws, and the first can neither reserve nor answer", arguments: StoreEngine.all)
    func takenOver(engine: StoreEngine) async throws {
        try await engine.withStore { store in
            let (first, second) = (Self.claim(1), Self.claim(2))
            #expect(try await Self.ask(store, first) == .granted)
            #expect(try await Self.reserve(1, under: first, store) == [.reserved])
            #expect(try await Self.ask(store, second, at: 9) == .inProgress)
            #expect(try await Self.states(store) == [.outstanding])
            #expect(try await Self.ask(store, second, at: 10) == .takenOver)
            #expect(try await Self.states(store) == [.withdrawn])
            #expect(try await Self.ask(store, Self.claim(3), at: 11) == .inProgress)

            #expect(try await Self.reserve(2, under: first, store) == [.takenOver])
            #expect(try await Self.keep(store, first) == false)
            try await store.release(first)
            #expect(try await Self.states(store) == [.withdrawn])

            #expect(try await Self.reserve(3, under: second, store) == [.reserved])
            #expect(try await Self.keep(store, second))
            #expect(try await Self.states(store) == [.withdrawn, .outstanding])
            #expect(try await Self.ask(store, first, at: 30) == .answered(Self.answer))
        }
    }

    @Test("a released request is withdrawn and forgotten", arguments: StoreEngine.all)
    func released(engine: StoreEngine) async throws {
        try await engine.withStore { store in
            #expect(try await Self.ask(store, Self.claim(1)) == .granted)
            #expect(try await Self.reserve(1, under: Self.claim(1), store) == [.reserved])
            try await store.release(Self.claim(2))
            #expect(try await Self.states(store) == [.outstanding], "another claim")
            try await store.release(Self.claim(1))
            #expect(try await Self.states(store) == [.withdrawn])
            #expect(try await Self.reserve(2, under: Self.claim(1), store) == [.takenOver])
            #expect(try await Self.ask(store, Self.claim(2)) == .granted)
        }
    }

    @Test("of many simultaneous claims, one is granted, also when one takes over", arguments: StoreEngine.all)
    func simultaneous(engine: StoreEngine) async throws {
        try await engine.withStore { store in
            for (second, result) in [(0, IdempotentRequest.ClaimResult.granted), (10, .takenOver)] {
                let results = try await withThrowingTaskGroup(of: IdempotentRequest.ClaimResult.self) { group in
                    for owner in 1...30 as ClosedRange<UInt64> {
                        let claim = Self.claim(owner + UInt64(second * 100))
                        group.addTask { try await Self.ask(store, claim, at: second) }
                    }
                    return try await group.reduce(into: []) { $0.append($1) }
                }
                #expect(results.count { $0 == result } == 1)
                #expect(results.count { $0 == .inProgress } == 29)
            }
        }
    }
}
