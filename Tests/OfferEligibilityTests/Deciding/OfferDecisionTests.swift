import OfferCore
import OfferEligibility
import Testing

@testable import HistoryTestSupport

@Suite("What is always in force, before any rule")
struct OfferDecisionTests {
    private static let anyone = Condition.test(.everSubscribed(true))

    private func codes(
        _ facts: [SubscriberFact], rule: Condition = anyone, prefersWinBackOffers: Bool = false,
        countedOfferTypes: Set<OfferType> = [], limits: OfferLimits = OfferLimits()
    ) throws -> [ReasonCode] {
        let rules = AppRules(
            products: try DecidingSamples.products(), prefersWinBackOffers: prefersWinBackOffers,
            countedOfferTypes: countedOfferTypes)
        let terms = try DecidingSamples.terms(rule)
        let decision = rules.decide(
            DecidingSamples.customer(facts),
            about: OfferTerms(productID: terms.productID, offerID: terms.offerID, rule: terms.rule, limits: limits),
            at: DecidingSamples.now)
        #expect(decision.isEligible == decision.reasons.isEmpty)
        return decision.reasons.map(\.code)
    }

    private func active(_ change: (inout Renewal) throws -> Void = { _ in }) throws -> [SubscriberFact] {
        try DecidingSamples.facts(renewal: TestFacts.renewal(signed: 1, .on, change))
    }

    @Test("a purchaser who subscribes may have the offer")
    func eligible() throws {
        #expect(try codes(active()) == [])
    }

    @Test("only what a history would tell has the App Store asked for it")
    func needsHistory() throws {
        let rules = AppRules(products: try DecidingSamples.products())
        for (condition, isWhole, expected) in [
            (.test(.owns([try ProductID("lifetime")])), false, true),
            (.not(.test(.owns([try ProductID("lifetime")]))), false, true),
            (.not(.test(.owns([try ProductID("lifetime")]))), true, false),
            (.test(.fact(TeamFactTest(name: "a", .isOneOf([.bool(true)])))), false, false),
            (DecidingSamples.subscription(.priceIncrease([.pending])), false, false),
        ] as [(Condition, Bool, Bool)] {
            let facts = try DecidingSamples.facts(renewal: TestFacts.renewal(signed: 1), isWhole: isWhole)
            let decision = try rules.decide(
                DecidingSamples.customer(facts), about: DecidingSamples.terms(condition), at: DecidingSamples.now)
            #expect(decision.needsHistory == expected, "\(condition)")
        }
    }

    @Test("one whom nobody knows is refused as unknown, not as never subscribed")
    func unknownCustomer() throws {
        #expect(try codes([]) == [.unknown])
    }

    @Test("trap 40: a family member is refused, one of whom the ownership is not known too")
    func familyShared() throws {
        let rule = DecidingSamples.subscription(.status([.active]))
        for (ownership, expected) in [(.familyShared, .familyShared), (nil, .unknown)] as [(OwnershipType?, ReasonCode)]
        {
            let facts = try DecidingSamples.facts(renewal: TestFacts.renewal(signed: 1)) { $0.ownership = ownership }
            #expect(try codes(facts, rule: rule) == [expected])
        }
    }

    @Test(
        "a seat and an ownership that Apple added later are refused with reasons of their own, under every rule",
        arguments: [(OwnershipType.assigned, "seat_assigned"), (OwnershipType(rawValue: "LENT"), "not_purchaser")])
    func seats(ownership: OwnershipType, code: String) throws {
        for rule in [Self.anyone, DecidingSamples.subscription(.status([.active]))] {
            let facts = try DecidingSamples.facts(renewal: TestFacts.renewal(signed: 1)) { $0.ownership = ownership }
            let codes = try codes(facts, rule: rule).map(\.rawValue)
            #expect(codes.contains(code) && !codes.contains("unknown"), "\(codes)")
        }
    }

    @Test("an offer that is pending keeps it and others from being signed")
    func pending() throws {
        let same = try active { $0.offer = AppliedOffer(type: .promotional, identifier: "half") }
        let other = try active { $0.offer = AppliedOffer(type: .promotional, identifier: "third") }
        let code = try active { $0.offer = AppliedOffer(type: .offerCode, identifier: "third") }
        #expect(try codes(same) == [.pendingOffer])
        #expect(try codes(other) == [.otherOfferPending])
        #expect(try codes(code) == [])
        #expect(try codes(DecidingSamples.facts()) == [.unknown], "without a renewal info, nobody knows")
    }

    @Test("each subscription of the group that could take the offer is looked at, not only the current one")
    func redeemableSubscriptions() throws {
        func codes(_ change: (inout Purchase) throws -> Void, _ renewal: SubscriberFact) throws -> [ReasonCode] {
            let other = try TestFacts.transaction("5", of: "5", -5, 55) {
                $0.appTransactionID = try TransactionID("2")
                try change(&$0)
            }
            let first = try TestFacts.transaction("1", 0, 60) { $0.appTransactionID = try TransactionID("1") }
            return try self.codes([first, try TestFacts.renewal(signed: 1), other, renewal])
        }
        let plain = try TestFacts.renewal(of: "5", signed: 1)
        #expect(try codes({ _ in }, plain) == [])
        let pending = try TestFacts.renewal(of: "5", signed: 1) {
            $0.offer = AppliedOffer(type: .promotional, identifier: "third")
        }
        #expect(try codes({ _ in }, pending) == [.otherOfferPending])
        #expect(try codes({ $0.ownership = .familyShared }, plain) == [.familyShared])
        let retry = try TestFacts.renewal(of: "5", signed: 21) { $0.isInBillingRetryPeriod = true }
        #expect(try codes({ $0.expiresDate = .day(20) }, retry) == [.billingRetry])
        let ended = try TestFacts.renewal(of: "5", signed: 21, .off) { $0.expirationIntent = .cancelled }
        #expect(
            try codes(
                {
                    $0.expiresDate = .day(20)
                    $0.ownership = .familyShared
                }, ended) == [], "it has ended")
    }

    @Test("a payment problem is refused, unless the rule asks for it outside any not")
    func billingRetry() throws {
        let facts = try DecidingSamples.facts(
            renewal: TestFacts.renewal(signed: 30.1) { $0.isInBillingRetryPeriod = true },
            status: TestFacts.status(.billingRetry, signed: 30.1), end: 30)
        let asks = DecidingSamples.subscription(.status([.billingRetry]))
        #expect(try codes(facts) == [.billingRetry])
        #expect(try codes(facts, rule: asks) == [])
        #expect(try codes(facts, rule: .any([.not(asks), Self.anyone])) == [.billingRetry])
        #expect(try codes(facts, rule: .rule("r", asks)) == [])
    }

    @Test("only a test of the offered group's subscription lets an offer through a payment problem")
    func billingRetryOfAnotherGroup() throws {
        let facts = try DecidingSamples.facts(
            renewal: TestFacts.renewal(signed: 30.1) { $0.isInBillingRetryPeriod = true },
            status: TestFacts.status(.billingRetry, signed: 30.1), end: 30)
        func rule(
            _ groups: SubscriptionCondition.Groups?, _ products: String...
        ) throws -> Condition {
            let ids = Set(try products.map { try ProductID($0) })
            let retry = SubscriptionCondition(
                groups: groups, products: ids.isEmpty ? nil : ids, tests: [.status([.billingRetry])])
            return .any([.subscription(retry), Self.anyone])
        }
        #expect(try codes(facts, rule: rule(.some(["h"]))) == [.billingRetry])
        #expect(try codes(facts, rule: rule(nil, "other")) == [.billingRetry])
        #expect(try codes(facts, rule: rule(.any, "other")) == [.billingRetry])
        #expect(try codes(facts, rule: rule(.some(["g", "h"]), "other")) == [.billingRetry])
        #expect(try codes(facts, rule: rule(.some(["g", "h"]))) == [])
        #expect(try codes(facts, rule: rule(.any)) == [])
        #expect(try codes(facts, rule: rule(nil, "other", "monthly")) == [])
        #expect(try codes(facts, rule: .not(rule(.offered))).first == .billingRetry)
    }

    @Test("the App Store's own offer comes first, where the app prefers it")
    func winBack() throws {
        let facts = try DecidingSamples.facts(
            renewal: TestFacts.renewal(signed: 30.1, .off) {
                $0.expirationIntent = .cancelled
                $0.eligibleWinBackOfferIDs = ["back"]
            }, status: TestFacts.status(.expired, signed: 30.1), end: 30)
        #expect(try codes(facts) == [])
        #expect(try codes(facts, prefersWinBackOffers: true) == [.winBackOffers])
    }

    @Test(
        "the offer of a retention message of App Store Connect, a win-back offer and an offer code count where the app says so",
        arguments: [OfferType.retention, .winBack, .offerCode])
    func otherOffers(type: OfferType) throws {
        let offer = AppliedOffer(type: type, identifier: "stay", discountType: .payAsYouGo)
        let others = Set([OfferType.retention, .winBack, .offerCode]).subtracting([type])
        let pending = try active { $0.offer = offer }
        #expect(try codes(pending) == [])
        #expect(try codes(pending, countedOfferTypes: others) == [])
        #expect(try codes(pending, countedOfferTypes: [type]) == [.otherOfferPending])
        let redeemed = try active() + [TestFacts.transaction("0", -30, 0) { $0.offer = offer }]
        let days = (DecidingSamples.now - .day(-30)) / .days(1)
        for (cooldown, counts, expected) in [
            (days + 1, true, [.cooldown]), (days + 1, false, []), (days, true, []), (nil, true, []),
        ] as [(Double?, Bool, [ReasonCode])] {
            let limits = OfferLimits(cooldown: cooldown.map { .seconds($0 * 86_400) })
            #expect(try codes(redeemed, countedOfferTypes: counts ? [type] : others, limits: limits) == expected)
        }
    }

    @Test("every member of all that fails is reported; what is unknown beside it is left out")
    func reasons() throws {
        let rule = Condition.all([
            DecidingSamples.subscription(.status([.expired])), .test(.fact(TeamFactTest(name: "a", .exists(true)))),
            .test(.fact(TeamFactTest(name: "b", .isOneOf([.bool(true)])))), .test(.refundPending(false)),
        ])
        #expect(try codes(active(), rule: rule) == [.subscriptionStatus, .fact])
        let unknown = Condition.all([.test(.fact(TeamFactTest(name: "b", .isOneOf([.bool(true)])))), Self.anyone])
        #expect(try codes(active(), rule: unknown) == [.unknown])
    }

    @Test("a not that fails reports what it excludes")
    func exclusion() throws {
        let rule = Condition.not(DecidingSamples.subscription(.status([.active]), .autoRenew(true)))
        #expect(try codes(active(), rule: rule) == [.subscriptionStatus, .autoRenew])
        let decision = try AppRules(products: DecidingSamples.products()).decide(
            DecidingSamples.customer(active()), about: DecidingSamples.terms(rule), at: DecidingSamples.now)
        #expect(decision.reasons.first?.text == "The subscription's status is active; the rule excludes active.")
    }

    @Test("offers come by priority, then in the order of the file")
    func order() throws {
        let offers = try ["a", "b", "c"].enumerated().map { place, name in
            OfferTerms(
                productID: try ProductID("monthly"), offerID: try OfferID(utf8: Array(name.utf8)),
                rule: Rule(name: nil, condition: Self.anyone), priority: place == 2 ? 5 : 1)
        }
        let rules = AppRules(offers: offers, products: try DecidingSamples.products())
        let decisions = rules.decide(DecidingSamples.customer(try active()), at: DecidingSamples.now)
        #expect(
            decisions.map(\.offer.offerID.text.description) == ["c", "a", "b"] && decisions.allSatisfy(\.isEligible))
        #expect(
            rules.decide(
                DecidingSamples.customer(try active()), about: [try ProductID("yearly")], at: DecidingSamples.now
            ).isEmpty)
    }
}
