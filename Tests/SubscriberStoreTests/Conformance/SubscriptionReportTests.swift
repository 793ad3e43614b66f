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

    private static func shown(_ number: UInt64, of original: TransactionID, at day: Double, _ answer: String)
        -> RetentionShown
    {
        let known = Sample.shown(number, of: original, answer: answer)
        let isShown = answer != "nothing"
        return RetentionShown(
            requestIdentifier: known.requestIdentifier, subject: known.subject, answer: answer, reason: "rules",
            messageIdentifier: isShown ? known.messageIdentifier : nil, productID: nil, offerID: nil,
            rule: isShown ? "r" : nil, caseNumber: isShown ? (answer == "message" ? 2 : 1) : nil, at: Sample.day(day))
    }

    /// Forty subscriptions with requests on day 5, and some again on day 8. Every fifth is held out, and every second turns
    /// auto-renew off.
    private static func fillRetention(_ store: any SubscriberStore, seed: UInt64) async throws {
        var random = SplitMix64(seed: seed)
        let productID = Sample.offer(nonces: [], expiresAt: 0).productID
        let off = Renewal(productID: productID, autoRenewStatus: .off)
        // During a commitment, the customer's choice is that for its end, whatever the next bill says.
        var committed = Renewal(productID: productID, autoRenewStatus: .on)
        committed.commitment = CommitmentRenewal(autoRenewStatus: .off)
        var staying = off
        staying.commitment = CommitmentRenewal(autoRenewStatus: .on)
        for number in (1...40 as ClosedRange<UInt64>).shuffled(using: &random) {
            let id = "\(1000 + number)"
            let original = Sample.id(id)
            let isHeldOut = number % 5 == 0
            var facts = [
                Sample.transaction(id, of: id, 0, number % 4 == 0 ? 20 : 60) {
                    $0.appAccountToken = Sample.token(number)
                }
            ]
            let change: (type: String, renewal: Renewal)? =
                switch number {
                case 3: ("EXPIRED", off)
                case 6: (RenewalChange.autoRenewType, committed)
                case 9: (RenewalChange.autoRenewType, staying)
                default: number % 2 == 0 ? (RenewalChange.autoRenewType, off) : nil
                }
            if let change {
                facts.append(
                    Sample.fact(
                        .renewalChange(RenewalChange(type: change.type, subtype: nil, renewal: change.renewal)),
                        "c\(number)", of: id, signed: number % 8 == 0 ? 6.5 : 5.5))
            }
            try await store.merge(facts.shuffled(using: &random), in: Sample.production)
            var exposure = Sample.exposure(
                of: Sample.account(number), isHeldOut ? .heldOut : .offered, sample: "s", at: 5.001)
            exposure = Exposure(
                subject: exposure.subject, productID: exposure.productID, offerID: exposure.offerID, arm: exposure.arm,
                place: exposure.place,
                // One was exposed by an app before.
                source: OfferSource(rule: "r", channel: number == 7 ? .decision : .retention),
                rulesDigest: exposure.rulesDigest, at: exposure.at)
            try await store.add([.exposure(Sample.production, exposure)])
            var answers = [shown(number, of: original, at: 5, isHeldOut ? "message" : "promotional_offer")]
            if number % 10 == 1 { answers.append(shown(number + 100, of: original, at: 8, "nothing")) }
            for answer in answers.shuffled(using: &random) { try await store.record(answer, in: Sample.production) }
        }
    }

    @Test("retention messages are counted by case, and compared with the holdout", arguments: StoreEngine.all)
    func retention(engine: StoreEngine) async throws {
        try await engine.withStore { store in
            try await Self.fillRetention(store, seed: 1)
            let messages = try await Self.reader(asOf: 50).run(over: store).messages
            #expect((messages.requests, messages.shown, messages.all.subscriptions) == (44, 40, 40))
            #expect(messages.all.cancelled == Share(15, of: 40) && messages.all.stayed == Share(30, of: 40))
            #expect(messages.cases.map(\.number) == [1, 2, nil])
            #expect(messages.cases.map(\.answer) == ["promotional_offer", "message", "nothing"])
            #expect(messages.cases.map(\.requests) == [32, 8, 4] && messages.cases.map(\.shown) == [32, 8, 0])
            // The fourth subscription counts at its own first request of the case, which is later.
            #expect(messages.cases[2].outcomes.cancelled == Share(0, of: 4))
            #expect(messages.holdouts.map(\.sample) == ["s"])
            let holdout = try #require(messages.holdouts.first)
            #expect((holdout.arms.offered.subscriptions, holdout.arms.heldOut.subscriptions) == (31, 8))
            #expect(holdout.cancelled == ByArm(Share(12, of: 31), Share(3, of: 8)))
            #expect(holdout.stayed == ByArm(Share(23, of: 31), Share(6, of: 8)))
            #expect(holdout.stayedDifference?.once != nil)
            let early = try await Self.reader(asOf: 5.5).run(over: store).messages
            #expect(early.requests == 40 && early.all.cancelled == Share() && early.all.stayed == Share())
            // An erased customer is in no number.
            _ = try await store.erase(Sample.account(2), in: Sample.production)
            #expect(try await Self.reader(asOf: 50).run(over: store).messages.requests == 43)
        }
    }

    @Test("order and engine change no byte of retention messages")
    func retentionOrder() async throws {
        var texts: Set<[UInt8]> = []
        for (engine, seeds) in zip(StoreEngine.all, [[1, 2], [3]] as [[UInt64]]) {
            for seed in seeds {
                try await engine.withStore { store in
                    try await Self.fillRetention(store, seed: seed)
                    let report = try await Self.reader(asOf: 50).run(over: store)
                    texts.insert(report.json + report.csv(only: .messages))
                    #expect(report.messages.requests == 44)
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
