import OfferCore
import OfferEligibility
import StoreTestSupport
import SubscriberStore
import Testing

@Suite("A store keeps reviews of customers")
struct ReviewTests {
    private static let receiver = "https://a.example/events"
    private static let app = Sample.production

    private static func due(_ store: any SubscriberStore, day: Double) async throws -> [DueReview] {
        try await store.dueReviews(of: app, by: Sample.day(day), limit: 100)
    }

    private static func review(
        _ due: DueReview, of number: Int, events: [UInt64] = [], next: Double? = 90, in store: any SubscriberStore
    ) async throws -> Bool {
        try await store.settle(
            SettledReview(
                due, of: Sample.id("\(number)"), states: ReviewStates(["": ReviewState(sent: ["a": 1])]),
                next: next.map(Sample.day),
                events: events.map { .init(id: Sample.token($0), body: Array("event \($0)".utf8)) },
                receivers: [receiver], at: Sample.day(1)))
    }

    private static let json = #"{"byAccount":{"":{"eligible":[],"sent":{"a":1}}}}"#

    private static func pending(_ store: any SubscriberStore) async throws -> [Int] {
        try await store.receivers().map(\.pending)
    }

    @Test("each change of facts makes a review due, but only once the app is reviewed", arguments: StoreEngine.all)
    func marked(engine: StoreEngine) async throws {
        try await engine.withStore { store in
            try await store.merge(Sample.facts(1), in: Self.app)
            #expect(try await Self.due(store, day: 1).isEmpty)
            #expect(try await store.enrolCustomers(of: Self.app, limit: 9) == false)
            try await store.beginReviews(of: Self.app, by: "a", at: Sample.day(1))
            #expect(try await Self.due(store, day: 1).isEmpty, "those who were there before are added in steps")
            try await store.merge(Sample.facts(2), in: Self.app)
            let new = try await Self.due(store, day: 1)
            #expect(new.map(\.isNew) == [true] && new.first?.since == Sample.day(1) && new.first?.states == nil)
            #expect(try await Self.review(#require(new.first), of: 2, in: store))
            #expect(try await store.enrolCustomers(of: Self.app, limit: 9) == false)
            #expect(try await Self.due(store, day: 1).map(\.isNew) == [false])
        }
    }

    @Test("a fact or a link under any name of a customer makes the review due", arguments: StoreEngine.all)
    func statements(engine: StoreEngine) async throws {
        try await engine.withStore { store in
            try await store.beginReviews(of: Self.app, by: "a", at: Sample.day(0))
            try await store.merge(Sample.facts(1), in: Self.app)
            func isDue(_ change: () async throws -> Void) async throws -> Bool {
                for claim in try await Self.due(store, day: 1) {
                    _ = try await Self.review(claim, of: 1, in: store)
                }
                #expect(try await Self.due(store, day: 2).isEmpty)
                try await change()
                return try await Self.due(store, day: 2).count == 1
            }
            let facts = try await store.customers(
                known: .originalTransactionID(Sample.facts(1)[0].originalTransactionID), bundleID: Sample.bundleID,
                environment: nil)
            let token = try #require(facts.first?.facts.compactMap(\.appAccountToken).first)
            for identifier in [
                CustomerIdentifier.appAccountToken(token),
                .originalTransactionID(Sample.facts(1)[0].originalTransactionID),
            ] {
                #expect(
                    try await isDue {
                        try await store.setTeamFacts(
                            [Sample.text("score"): .number(Array("1".utf8))], of: identifier, in: Self.app,
                            at: Sample.day(1))
                    })
                for claim in try await Self.due(store, day: 3) { _ = try await Self.review(claim, of: 1, in: store) }
            }
            #expect(
                try await isDue {
                    try await store.link(
                        .originalTransactionID(Sample.facts(1)[0].originalTransactionID),
                        to: .applicationUsername(Sample.text("ann")), in: Self.app, at: Sample.day(1))
                })
            for claim in try await Self.due(store, day: 3) { _ = try await Self.review(claim, of: 1, in: store) }
            #expect(
                try await isDue {
                    try await store.setTeamFacts(
                        [Sample.text("score"): .number(Array("2".utf8))],
                        of: .applicationUsername(Sample.text("ann")), in: Self.app, at: Sample.day(1))
                })
        }
    }

    @Test(
        "a review is recorded with its events, unless the records changed since the claim", arguments: StoreEngine.all)
    func settled(engine: StoreEngine) async throws {
        try await engine.withStore { store in
            try await store.beginReviews(of: Self.app, by: "a", at: Sample.day(0))
            try await store.merge(Sample.facts(1), in: Self.app)
            let claim = try #require(try await Self.due(store, day: 1).first)
            #expect(try await Self.review(claim, of: 1, events: [1, 2], in: store))
            #expect(try await Self.review(claim, of: 1, events: [1, 2], in: store) == false)
            #expect(try await Self.pending(store) == [2])
            // One after the other.
            for number in [1, 2] as [UInt64] {
                let due = try await store.claimForwards(
                    to: Self.receiver, dueAt: Sample.day(2), leaseEnd: Sample.day(3), limit: 9)
                #expect(due.map(\.contentID) == ["\(Sample.token(number))"])
                #expect(due.first?.body == Array("event \(number)".utf8) && due.first?.since == Sample.day(1))
                try await store.settle(try #require(due.first).id, .delivered)
            }
            #expect(try await Self.pending(store) == [0])
            #expect(try await Self.due(store, day: 89).isEmpty)
            let next = try #require(try await Self.due(store, day: 90).first)
            #expect(next.states == Self.json)
            // A change between the claim and the record.
            try await store.merge([Sample.renewal(of: "2000000100000001", signed: 5)], in: Self.app)
            #expect(try await Self.review(next, of: 1, events: [3], in: store) == false)
            #expect(try await Self.pending(store) == [0])
            #expect(try await Self.due(store, day: 90).map(\.states) == [Self.json])
        }
    }

    @Test("a change of the rules makes all reviews due again, in steps", arguments: StoreEngine.all)
    func rules(engine: StoreEngine) async throws {
        try await engine.withStore { store in
            try await store.beginReviews(of: Self.app, by: "a", at: Sample.day(0))
            for number in 1...5 { try await store.merge(Sample.facts(number), in: Self.app) }
            for (number, claim) in try await Self.due(store, day: 1).enumerated() {
                #expect(try await Self.review(claim, of: number + 1, next: number == 4 ? nil : 90, in: store))
            }
            try await store.beginReviews(of: Self.app, by: "a", at: Sample.day(2))
            #expect(try await store.enrolCustomers(of: Self.app, limit: 2) == false)
            try await store.beginReviews(of: Self.app, by: "b", at: Sample.day(2))
            #expect(try await store.enrolCustomers(of: Self.app, limit: 2))
            let first = try await Self.due(store, day: 2)
            #expect(first.count == 2 && first.allSatisfy { $0.since == Sample.day(0) && $0.isNew })
            while try await store.enrolCustomers(of: Self.app, limit: 2) {}
            #expect(try await Self.due(store, day: 2).count == 5)
        }
    }

    @Test("dead events are pruned like notifications, and revived before that", arguments: StoreEngine.all)
    func dead(engine: StoreEngine) async throws {
        try await engine.withStore { store in
            try await store.beginReviews(of: Self.app, by: "a", at: Sample.day(0))
            try await store.merge(Sample.facts(1), in: Self.app)
            let claim = try #require(try await Self.due(store, day: 1).first)
            #expect(try await Self.review(claim, of: 1, events: [1], in: store))
            #expect(
                try await store.giveUpForwards(
                    to: Self.receiver, receivedBefore: Sample.day(5), at: Sample.day(5), limit: 9) == 1)
            #expect(
                try await store.deadLetters(after: nil, limit: 9).map(\.forward.contentID) == ["\(Sample.token(1))"])
            #expect(try await store.reviveDeadLetters(at: Sample.day(5)) == 1)
            #expect(
                try await store.giveUpForwards(
                    to: Self.receiver, receivedBefore: Sample.day(6), at: Sample.day(6), limit: 9) == 1)
            _ = try await store.prunePayloads(receivedBefore: Sample.day(1), limit: 9)
            #expect(try await store.deadLetters(after: nil, limit: 9).count == 1)
            _ = try await store.prunePayloads(receivedBefore: Sample.day(9), limit: 9)
            #expect(try await store.deadLetters(after: nil, limit: 9).isEmpty)
            #expect(try await store.receivers().map { [$0.pending, $0.dead] } == [[0, 0]])
            #expect(try await store.check().isEmpty)
        }
    }
}
