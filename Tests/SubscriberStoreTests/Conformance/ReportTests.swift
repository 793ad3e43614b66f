import OfferCore
import OfferEligibility
import OfferReports
import StoreTestSupport
import SubscriberStore
import TestSupport
import Testing

@Suite("A store gives the report of an offer")
struct ReportTests {
    private static let half = Sample.exposure(of: Sample.account(1), .offered)
    private static var offer: ReportedOffer {
        get throws {
            ReportedOffer(
                app: Sample.production, productID: half.productID, offerID: try #require(half.offerID), sample: "s")
        }
    }

    private static func reader(asOf day: Double) throws -> OfferReportReader {
        var question = ReportQuestion(productID: "monthly", offerID: "half", sample: "s", asOf: Sample.day(day))
        question.plannedShare = 0.5
        question.span = .month
        question.tracked = ["episodes", "isFan"]
        return OfferReportReader(try offer, question, Catalogue.App(offers: [:]))
    }

    private static let count: UInt64 = 120

    /// The change that records a customer's exposure. Every second customer is held out, and every fourth redeems the offer.
    private static func request(_ number: UInt64) -> LedgerRequest {
        let account = Sample.account(number)
        let isHeldOut = number % 2 == 0
        let exposure = Sample.exposure(of: account, isHeldOut ? .heldOut : .offered, sample: "s", at: 10)
        let offer = LedgerRequest.HeldOutOffer(
            productID: exposure.productID, offerID: Sample.offer("half", nonces: [], expiresAt: 0).offerID,
            limits: OfferLimits(), place: 0, exposures: [exposure])
        return LedgerRequest(
            app: Sample.production, facts: [], holders: [account],
            offers: isHeldOut
                ? [] : [Sample.offer("half", OfferLimits(), nonces: [number], expiresAt: 11, exposures: [exposure])],
            reserving: .all, heldOut: isHeldOut ? [offer] : [], at: Sample.day(10))
    }

    private static func facts(_ number: UInt64) -> [SubscriberFact] {
        let id = "\(1000 + number)"
        func paid(_ purchase: inout Purchase) {
            purchase.appAccountToken = Sample.token(number)
            purchase.currency = "USD"
            purchase.storefront = number % 3 == 0 ? "DEU" : "USA"
        }
        var facts = [Sample.transaction(id, of: id, 0, 30, paid)]
        if number % 4 == 1 {
            facts.append(
                Sample.transaction("\(id)2", of: id, 30, 60) { purchase in
                    paid(&purchase)
                    purchase.price = 4990
                    purchase.offer = AppliedOffer(
                        type: .promotional, identifier: "half", discountType: .payUpFront)
                })
        }
        return facts
    }

    /// The facts of a customer: the number of episodes on two days, by two identifiers, and a flag of every second one.
    private static func facts(of number: UInt64) -> [(CustomerIdentifier, String, TeamFactValue?, Double)] {
        let subscription = CustomerIdentifier.originalTransactionID(Sample.id("\(1000 + number)"))
        func count(_ number: UInt64) -> TeamFactValue { .number(Array("\(number)".utf8)) }
        return [
            (Sample.account(number), "episodes", count(number % 5), 9),
            (subscription, "episodes", count(number % 5 + number % 2 * 10), 20),
            (Sample.account(number), "episodes", count(1000), 45),
            (Sample.account(number), "isFan", .bool(number % 4 < 2), 12),
            (Sample.account(number), "isFan", number % 8 == 1 ? nil : .bool(number % 4 < 2), 13),
        ]
    }

    private static func fill(_ store: any SubscriberStore, seed: UInt64) async throws {
        var random = SplitMix64(seed: seed)
        for number in (1...count).shuffled(using: &random) {
            _ = try await store.reserve(request(number))
            for fact in facts(number).shuffled(using: &random) {
                for _ in 0...Int.random(in: 0...1, using: &random) {
                    try await store.merge([fact], in: Sample.production)
                }
            }
            for (identifier, name, value, day) in Self.facts(of: number) {
                for _ in 0...Int.random(in: 0...1, using: &random) {
                    try await store.setTeamFacts(
                        [Sample.text(name): value], of: identifier, in: Sample.production,
                        tracking: [Sample.text("episodes"), Sample.text("isFan")], at: Sample.day(day))
                }
            }
        }
    }

    @Test("what happened to each exposed customer is in the report", arguments: StoreEngine.all)
    func numbers(engine: StoreEngine) async throws {
        try await engine.withStore { store in
            try await Self.fill(store, seed: 1)
            // Of another offer, and of another app.
            let other = Sample.exposure(of: Sample.account(500), .offered, "other", sample: "s", at: 1)
            _ = try await store.reserve(
                LedgerRequest(
                    app: Sample.production, facts: [], holders: [Sample.account(500)],
                    offers: [Sample.offer("other", OfferLimits(), nonces: [9999], expiresAt: 2, exposures: [other])],
                    reserving: .all, at: Sample.day(1)))
            let report = try await Self.reader(asOf: 50).run(over: store)
            #expect(report.funnel.exposed == ByArm(60, 60))
            #expect((report.funnel.signed, report.funnel.signatures, report.funnel.redeemed) == (60, 60, 30))
            #expect(report.effect.arms.offered == Share(30, of: 60))
            #expect(report.effect.arms.heldOut == Share(0, of: 60))
            #expect(report.effect.difference?.once?.excludesZero == true)
            let paid = try #require(report.paid.first { $0.day == 30 })
            #expect(paid.currency == "USD" && paid.arms.offered.mean == 2495 && paid.arms.heldOut.mean == 0)
            #expect(report.groups.filter { $0.kind == .storefront }.map(\.name) == ["DEU", "USA"])
            #expect(report.trust.split?.isBroken == false)
            // Before the redemptions.
            #expect(try await Self.reader(asOf: 20).run(over: store).funnel.redeemed == 0)
            #expect(try await Self.reader(asOf: 9).run(over: store).funnel.exposed == ByArm(0, 0))
        }
    }

    @Test("tracked facts count as they were on the day, by the latest identifier", arguments: StoreEngine.all)
    func engagement(engine: StoreEngine) async throws {
        try await engine.withStore { store in
            try await Self.fill(store, seed: 1)
            let engagement = try await Self.reader(asOf: 50).run(over: store).engagement
            #expect(engagement.map(\.fact) == ["episodes", "isFan"])
            // Exposed on day 10, and compared on day 40. Odd numbers are offered, and have ten more since day 20.
            let numbers = try #require(engagement[0].numbers)
            #expect(numbers.mean.offered.mean == 12_000 && numbers.mean.heldOut.mean == 2000)
            #expect(numbers.change.offered.mean == 10_000 && numbers.change.heldOut.mean == 0)
            #expect(numbers.changeDifference?.value == 10_000)
            // Of the remainders by 4, 1 is odd and 0 is even; one half of the former lost the flag.
            #expect(engagement[1].arms.offered == Share(15, of: 60))
            #expect(engagement[1].arms.heldOut == Share(30, of: 60))
            #expect(engagement[1].numbers == nil)
        }
    }

    @Test("an erased customer stays an exposure, without anything else", arguments: StoreEngine.all)
    func erasure(engine: StoreEngine) async throws {
        try await engine.withStore { store in
            try await Self.fill(store, seed: 1)
            for number in [1, 2] as [UInt64] {
                _ = try await store.erase(Sample.account(number), in: Sample.production)
            }
            let report = try await Self.reader(asOf: 50).run(over: store)
            #expect(report.funnel.exposed == ByArm(60, 60))
            #expect(report.funnel.erased == ByArm(1, 1))
            #expect(report.funnel.redeemed == 29)
            #expect(report.effect.arms.offered == Share(29, of: 59))
            #expect(report.engagement[0].arms == ByArm(Share(59, of: 59), Share(59, of: 59)))
        }
    }

    @Test("order, repetition and engine change no byte")
    func order() async throws {
        var texts: Set<[UInt8]> = []
        for (engine, seeds) in zip(StoreEngine.all, [[1, 2, 3], [4]] as [[UInt64]]) {
            for seed in seeds {
                try await engine.withStore { store in
                    try await Self.fill(store, seed: seed)
                    let report = try await Self.reader(asOf: 50).run(over: store)
                    texts.insert(report.json)
                    #expect(report.funnel.redeemed == 30)
                }
            }
        }
        #expect(texts.count == 1)
    }
}
