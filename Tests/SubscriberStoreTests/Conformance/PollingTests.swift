import OfferCore
import OfferEligibility
import StoreTestSupport
import SubscriberStore
import Testing

@Suite("A store lists subscriptions to ask about")
struct PollingTests {
    @Test(
        "trap 15: a subscription is due when its period is over and nothing was said since", arguments: StoreEngine.all)
    func due(engine: StoreEngine) async throws {
        try await engine.withStore { store in
            let facts = [Sample.transaction("1", of: "1", 0, 30), Sample.transaction("2", of: "2", 0, 20)]
            try await store.merge(facts, in: Sample.production)
            #expect(try await self.due(store, at: 19.9).isEmpty)
            #expect(try await self.due(store, at: 31) == ["2", "1"])
            #expect(try await self.due(store, at: 31).isEmpty, "the next check is later")
            #expect(try await self.due(store, at: 40) == ["1", "2"])
        }
    }

    @Test("no subscription is due that the App Store has spoken of since", arguments: StoreEngine.all)
    func settled(engine: StoreEngine) async throws {
        try await engine.withStore { store in
            try await store.merge(
                [Sample.transaction("1", of: "1", 0, 30), Sample.status(2, of: "1", signed: 30)], in: Sample.production)
            #expect(try await self.due(store, at: 99).isEmpty)
        }
    }

    @Test("a renewal moves the check to its own end, an extension of the period too", arguments: StoreEngine.all)
    func renewal(engine: StoreEngine) async throws {
        try await engine.withStore { store in
            try await store.merge([Sample.transaction("1", of: "1", 0, 30)], in: Sample.production)
            try await store.merge([Sample.transaction("2", of: "1", 30, 60, signed: 29.9)], in: Sample.production)
            #expect(try await self.due(store, at: 59).isEmpty)
            try await store.merge([Sample.transaction("2", of: "1", 30, 70, signed: 50)], in: Sample.production)
            #expect(try await self.due(store, at: 69).isEmpty)
            #expect(try await self.due(store, at: 70) == ["1"])
        }
    }

    @Test("the check follows the grace period, and none follows a refund", arguments: StoreEngine.all)
    func graceAndRefund(engine: StoreEngine) async throws {
        try await engine.withStore { store in
            let grace = Sample.renewal(of: "1", signed: 30.1) { $0.gracePeriodExpiresDate = Sample.day(46) }
            try await store.merge([Sample.transaction("1", of: "1", 0, 30), grace], in: Sample.production)
            let refund = Sample.transaction("2", of: "2", 0, 30, signed: 5) {
                $0.revocation = Revocation(date: Sample.day(5))
            }
            try await store.merge([refund], in: Sample.production)
            #expect(try await self.due(store, at: 45).isEmpty)
            #expect(try await self.due(store, at: 46) == ["1"])
        }
    }

    @Test(
        "what became of a question says when the next one is due, unless something newer has arrived",
        arguments: StoreEngine.all)
    func settling(engine: StoreEngine) async throws {
        try await engine.withStore { store in
            let facts = (1...3).map { Sample.transaction("\($0)", of: "\($0)", 0, 30) }
            try await store.merge(facts, in: Sample.production)
            for (day, limit, count) in [(29.0, 9, 0), (31, 9, 3), (31, 2, 2)] {
                let counted = try await store.countDueSubscriptions(
                    of: Sample.production, dueBefore: Sample.day(day), limit: limit)
                #expect(counted == count)
            }
            let claims = try await self.claim(store, at: 31).sorted { $0.id < $1.id }
            try #require(claims.map(\.id) == ["1", "2", "3"])
            // Nobody was asked about the first. Nothing is known of the second. The third has renewed meanwhile.
            try await store.merge([Sample.transaction("4", of: "3", 30, 60, signed: 31)], in: Sample.production)
            try await store.settle([
                SettledClaim(claims[0], dueAt: claims[0].dueAt), SettledClaim(claims[1], dueAt: nil),
                SettledClaim(claims[2], dueAt: nil),
            ])
            #expect(try await self.due(store, at: 31) == ["1"])
            #expect(try await self.due(store, at: 59) == ["1"])
            #expect(try await self.due(store, at: 60) == ["3"])
        }
    }

    @Test("the recovery checkpoint moves forward, and back only out of the future", arguments: StoreEngine.all)
    func checkpoint(engine: StoreEngine) async throws {
        try await engine.withStore { store in
            let app = Sample.production
            #expect(try await store.recoveryCheckpoint(of: app) == nil)
            for (day, now, expected) in [(5.0, 6.0, 5.0), (4, 6, 5), (9, 9, 9), (8, 8.5, 8)] {
                try await store.setRecoveryCheckpoint(
                    Sample.day(day), since: Sample.day(day), continuing: false, of: app, at: Sample.day(now))
                #expect(try await store.recoveryCheckpoint(of: app) == Sample.day(expected))
            }
        }
    }

    @Test(
        "the span for which all notifications are known goes on, or begins where a gap ends", arguments: StoreEngine.all
    )
    func coverage(engine: StoreEngine) async throws {
        try await engine.withStore { store in
            let app = Sample.production
            try await store.merge(Sample.facts(1), in: app)
            func coverage() async throws -> HistoryEvidence.Coverage? {
                try await store.customer(Sample.account(1))?.coverage
            }
            #expect(try await coverage() == nil)
            for (until, since, continuing, expected) in [
                // The checkpoint of a version that did not know where the span begins.
                (5.0, 3.0, true, 3.0), (6, 5, true, 3), (9, 8, false, 8), (7, 2, false, 8), (10, 9, true, 8),
            ] {
                try await store.setRecoveryCheckpoint(
                    Sample.day(until), since: Sample.day(since), continuing: continuing, of: app, at: Sample.day(11))
                #expect(try await coverage()?.since == Sample.day(expected), "\(until)")
                #expect(try await coverage()?.changesSince == Sample.day(expected), "\(until)")
            }
            #expect(try await coverage()?.until == Sample.day(10))
        }
    }

    private func due(_ store: any SubscriberStore, at day: Double) async throws -> [String] {
        try await claim(store, at: day).map(\.id)
    }

    private func claim(_ store: any SubscriberStore, at day: Double) async throws -> [DueSubscription] {
        let due = try await store.claimDueSubscriptions(
            of: Sample.production, dueBefore: Sample.day(day), nextDueAt: Sample.day(day + 5), limit: 10)
        #expect(due.allSatisfy { $0.app == Sample.production })
        return due
    }
}

extension DueSubscription {
    fileprivate var id: String { originalTransactionID.text.description }
}
