import OfferCore
import OfferEligibility
import OfferReports
import StoreTestSupport
import SubscriberStore
import TestSupport
import Testing

@Suite("A store gives the report about the subscriptions of an app")
struct SubscriptionReportTests {
    private static let count: UInt64 = 60

    private static func reader(asOf day: Double) -> SubscriptionReportReader {
        SubscriptionReportReader(
            Sample.production, SubscriptionQuestion(asOf: Sample.day(day)), Catalogue.App(offers: [:]))
    }

    /// Every third subscription renews, every fourth fails to, and every tenth is a family share.
    private static func facts(_ number: UInt64) -> [SubscriberFact] {
        let id = "\(1000 + number)"
        func paid(_ purchase: inout Purchase) {
            // Half of the subscriptions belong to accounts with two.
            purchase.appAccountToken = Sample.token(number / 2)
            purchase.storefront = number % 2 == 0 ? "DEU" : "USA"
            if number % 10 == 0 { purchase.ownership = .familyShared }
        }
        var facts = [Sample.transaction(id, of: id, 0, 30, paid)]
        if number % 3 == 0 { facts.append(Sample.transaction("\(id)2", of: id, 30, 60, paid)) }
        if number % 4 == 1 {
            facts.append(
                Sample.renewal(of: id, signed: 30.1) { renewal in
                    renewal.isInBillingRetryPeriod = true
                    renewal.priceIncreaseStatus = .unanswered
                })
        }
        return facts
    }

    private static func fill(_ store: any SubscriberStore, seed: UInt64) async throws {
        var random = SplitMix64(seed: seed)
        let facts = (1...count).flatMap(facts).shuffled(using: &random)
        for fact in facts {
            for _ in 0...Int.random(in: 0...1, using: &random) {
                try await store.merge([fact], in: Sample.production)
            }
        }
        // Nothing of the sandbox counts.
        try await store.merge([Sample.transaction("9", of: "9")], in: Sample.sandbox)
    }

    @Test("each subscription that the customer bought counts once, at any time", arguments: StoreEngine.all)
    func numbers(engine: StoreEngine) async throws {
        try await engine.withStore { store in
            #expect(try await Self.reader(asOf: 10).run(over: store).groups.map(\.now.allActive) == [0])
            try await Self.fill(store, seed: 1)
            let bought = (1...Self.count).filter { $0 % 10 != 0 }
            let early = try await Self.reader(asOf: 10).run(over: store).groups
            #expect(early[0].now.allActive == bought.count)
            #expect(early.filter { $0.kind == .storefront }.map(\.name) == ["USA", "DEU"])
            let late = try await Self.reader(asOf: 45).run(over: store).groups[0]
            #expect(late.now.allActive == bought.count { $0 % 3 == 0 })
            #expect(late.now.inRetry == bought.count { $0 % 4 == 1 && $0 % 3 != 0 })
            #expect(late.now.paidDays[0] == late.now.allActive)
            // Of erased customers, nothing is known.
            let erased = try await store.erase(Sample.account(3), in: Sample.production)
            let rest = try await Self.reader(asOf: 10).run(over: store).groups[0]
            #expect(rest.now.allActive == bought.count - erased.subscriptions && erased.subscriptions == 2)
        }
    }

    @Test("order, repetition and engine change no byte")
    func order() async throws {
        var texts: Set<[UInt8]> = []
        for (engine, seeds) in zip(StoreEngine.all, [[1, 2, 3], [4]] as [[UInt64]]) {
            for seed in seeds {
                try await engine.withStore { store in
                    try await Self.fill(store, seed: seed)
                    let report = try await Self.reader(asOf: 45).run(over: store)
                    texts.insert(report.json + report.csv)
                    #expect(report.groups[0].now.allActive > 0)
                }
            }
        }
        #expect(texts.count == 1)
    }

    @Test("the progress is told after each step", arguments: StoreEngine.all)
    func progress(engine: StoreEngine) async throws {
        try await engine.withStore { store in
            try await Self.fill(store, seed: 1)
            let counts = Recorded()
            _ = try await Self.reader(asOf: 45).run(over: store) { await counts.add($0) }
            #expect(await counts.all == [Int(Self.count)])
        }
    }

    private actor Recorded {
        var all: [Int] = []

        func add(_ count: Int) { all.append(count) }
    }
}
