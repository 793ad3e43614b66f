import OfferCore
import OfferEligibility
import OfferReports
import StoreTestSupport
import SubscriberStore
import TestSupport
import Testing

@Suite("A store keeps the values of tracked facts with their dates")
struct TrackedFactTests {
    private static let name = Sample.text("episodes")
    private static let account = Sample.account(1)

    private static func number(_ text: String) -> TeamFactValue { .number(Array(text.utf8)) }

    private static func set(
        _ value: TeamFactValue?, of identifier: CustomerIdentifier = account, at day: Double,
        tracking: Set<FieldText> = [name], in store: any SubscriberStore
    ) async throws {
        try await store.setTeamFacts(
            [name: value, Sample.text("other"): .bool(true)], of: identifier, in: Sample.production,
            tracking: tracking, at: Sample.day(day))
    }

    /// The kept values, as day and text, with the identifier if it is not an account.
    private static func kept(_ store: any SubscriberStore) async throws -> [String] {
        let records = Records()
        try await store.forEachRecord { record in
            guard case .trackedFact(_, let fact) = record else { return }
            let day = Double(fact.at.milliseconds - Sample.day(0).milliseconds) / 86_400_000
            let value =
                switch fact.value {
                case .text(let utf8)?, .number(let utf8)?: String(decoding: utf8, as: UTF8.self)
                case .bool(let value)?: "\(value)"
                case nil: "removed"
                }
            records.add("\(fact.name) \(day) \(value)")
        }
        return records.all
    }

    @Test("each change is kept, a repeated value is not, and of a day the last one counts", arguments: StoreEngine.all)
    func changes(engine: StoreEngine) async throws {
        try await engine.withStore { store in
            for (value, day) in [("1", 1), ("1", 2), ("2", 3), ("3", 3.25), ("2", 5), ("2", 6)] as [(String, Double)] {
                try await Self.set(Self.number(value), at: day, in: store)
            }
            try await Self.set(nil, at: 7, in: store)
            try await Self.set(nil, at: 8, in: store)
            #expect(
                try await Self.kept(store)
                    == ["episodes 1.0 1", "episodes 3.25 3", "episodes 5.0 2", "episodes 7.0 removed"])
        }
    }

    @Test("a fact that was set before it was tracked keeps its date", arguments: StoreEngine.all)
    func before(engine: StoreEngine) async throws {
        try await engine.withStore { store in
            try await Self.set(Self.number("1"), at: 1, tracking: [], in: store)
            #expect(try await Self.kept(store) == [])
            try await Self.set(Self.number("2"), at: 5, in: store)
            #expect(try await Self.kept(store) == ["episodes 1.0 1", "episodes 5.0 2"])
            // What was never set is not removed.
            try await Self.set(nil, of: Sample.account(2), at: 5, in: store)
            #expect(try await Self.kept(store).count == 2)
        }
    }

    @Test("the first day and the newest ones stay, in any order of arrival", arguments: StoreEngine.all)
    func bound(engine: StoreEngine) async throws {
        let count = TrackedFact.maximumCount
        let facts = (0..<count + 20).map { day in
            StoreRecord.trackedFact(
                Sample.production,
                TrackedFact(
                    identifier: Self.account, name: Self.name, value: Self.number("\(day)"),
                    at: Sample.day(Double(day))))
        }
        var found: Set<[String]> = []
        for seed in 1...2 as ClosedRange<UInt64> {
            var random = SplitMix64(seed: seed)
            try await engine.withStore { store in
                try await store.add(facts.shuffled(using: &random))
                found.insert(try await Self.kept(store))
            }
        }
        let days = [0] + Array(21..<count + 20)
        #expect(found == [days.map { "episodes \(Double($0)) \($0)" }])
        #expect(days.count == count)
    }

    @Test(
        "a list of customers keeps the values of each, and the last of two for one customer", arguments: StoreEngine.all
    )
    func list(engine: StoreEngine) async throws {
        try await engine.withStore { store in
            let statements = [(1, "5"), (2, "6"), (1, "7")].map { number, value in
                TeamFactStatement(Sample.account(number), [Self.name: Self.number(value)])
            }
            try await store.setTeamFacts(statements, in: Sample.production, tracking: [Self.name], at: Sample.day(1))
            #expect(try await Self.kept(store).sorted() == ["episodes 1.0 6", "episodes 1.0 7"])
        }
    }

    @Test(
        "values about a transaction follow its subscription, and are erased with the customer",
        arguments: StoreEngine.all)
    func erasure(engine: StoreEngine) async throws {
        try await engine.withStore { store in
            let renewal = CustomerIdentifier.transactionID(Sample.id("2"))
            try await Self.set(Self.number("1"), of: renewal, at: 1, in: store)
            // The fact itself is gone, and its history is not.
            try await store.setTeamFacts(
                [Self.name: nil, Sample.text("other"): nil], of: renewal, in: Sample.production,
                tracking: [Self.name], at: Sample.day(2))
            try await store.merge(
                [Sample.transaction("1", of: "1"), Sample.transaction("2", of: "1", 30, 60)], in: Sample.production)
            let original = CustomerIdentifier.originalTransactionID(Sample.id("1"))
            #expect(
                try await store.records().filter { $0.contains("\"trackedFact\"") }.allSatisfy { line in
                    line.contains("originalTransactionID")
                })
            #expect(try await Self.kept(store) == ["episodes 1.0 1", "episodes 2.0 removed"])
            _ = try await store.erase(original, in: Sample.production)
            #expect(try await store.records().filter { !$0.contains("\"intake\"") } == [])
        }
    }
}

private final class Records: Sendable {
    private let lines = Lines()

    func add(_ text: String) { lines.add(Array(text.utf8)) }

    var all: [String] { lines.all.map { String(decoding: $0, as: UTF8.self) } }
}
