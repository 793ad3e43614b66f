import OfferCore
import OfferEligibility
import Testing

@testable import HistoryTestSupport

@Suite("Each condition is true, false or unknown")
struct ConditionTests {
    private func truth(
        _ condition: Condition, _ facts: [SubscriberFact], team: [String: TeamFactValue] = [:],
        at now: Timestamp = DecidingSamples.now, _ environment: AppStoreEnvironment = .production
    ) throws -> Truth {
        let customer = DecidingSamples.customer(facts, team: team, at: now, environment)
        let context = try DecidingSamples.context(customer, at: now)
        let truth = condition.truth(in: context)
        #expect(condition.reasons(truth, in: context).isEmpty == (truth == .yes), "what does not hold has a reason")
        #expect(condition.reasons(truth, wanting: false, in: context).isEmpty == (truth == .no))
        for reason in condition.reasons(truth, in: context) {
            #expect((reason.code == .unknown) == (truth == .unknown), "\(reason)")
            #expect(reason.text.hasSuffix(".") && !reason.text.contains("Optional"), "\(reason.text)")
        }
        return truth
    }

    private func active(_ status: AutoRenewStatus = .on) throws -> [SubscriberFact] {
        try DecidingSamples.facts(renewal: TestFacts.renewal(signed: 1, status))
    }

    /// Ended on day 30 because the customer cancelled.
    private func cancelled() throws -> [SubscriberFact] {
        try DecidingSamples.facts(
            renewal: TestFacts.renewal(signed: 30.1, .off) { $0.expirationIntent = .cancelled },
            status: TestFacts.status(.expired, signed: 30.1), end: 30)
    }

    /// Its period is over, and nothing was said since.
    private func unsettled() throws -> [SubscriberFact] {
        try DecidingSamples.facts(renewal: TestFacts.renewal(signed: 1), end: 38)
    }

    @Test("each kind of condition has its own name and reason code")
    func kinds() {
        let subscription = SubscriptionTest.kinds.map { ($0.name, $0.code, $0.subject) }
        let customer = CustomerTest.kinds.map { ($0.name, $0.code, $0.subject) }
        for kinds in [subscription, customer, subscription + customer] {
            #expect(Set(kinds.map(\.0)).count == kinds.count)
            #expect(Set(kinds.map(\.1)).count == kinds.count)
            #expect(Set(kinds.map(\.2)).count == kinds.count)
        }
    }

    @Test("the status, settled or not")
    func status() throws {
        let condition = DecidingSamples.subscription(.status([.active]))
        #expect(try truth(condition, active()) == .yes)
        #expect(try truth(condition, cancelled()) == .no)
        #expect(try truth(condition, unsettled()) == .unknown)
        #expect(try truth(condition, []) == .unknown, "nobody knows the customer")
    }

    @Test("auto-renew, the next product, and a pending offer need a renewal info")
    func renewal() throws {
        let silent = try DecidingSamples.facts()
        let moving = try DecidingSamples.facts(
            renewal: TestFacts.renewal(signed: 1) {
                $0.autoRenewProductID = try ProductID("yearly")
                $0.offer = AppliedOffer(type: .promotional, identifier: "half")
            })
        for (test, facts, expected) in [
            (.autoRenew(true), try active(), .yes), (.autoRenew(false), try active(), .no),
            (.autoRenew(true), silent, .unknown),
            (.renewsTo([.same]), try active(), .yes), (.renewsTo([.same]), moving, .no),
            (.renewsTo([.same]), silent, .unknown),
            (.renewsTo([.higher]), moving, .yes), (.renewsTo([.lower]), moving, .no),
            (.renewsTo([.product(try ProductID("yearly"))]), moving, .yes), (.renewsTo([.same]), try active(.off), .no),
            (.pendingOffer(.some(true)), moving, .yes), (.pendingOffer(.some(false)), try active(), .yes),
            (.pendingOffer(.some(true)), silent, .unknown), (.pendingOffer(.offers(["half"])), moving, .yes),
            (.pendingOffer(.offers(["other"])), moving, .no), (.pendingOffer(.some(false)), try cancelled(), .yes),
            (.rank([.lower]), try active(), .yes), (.rank([.highest]), try active(), .no),
        ] as [(SubscriptionTest, [SubscriberFact], Truth)] {
            #expect(try truth(DecidingSamples.subscription(test), facts) == expected, "\(test)")
        }
    }

    @Test("the end: why, how long ago, and in how long, at the edges of the bounds")
    func end() throws {
        for (test, facts, expected) in [
            (.endedBecause([.cancelled]), try cancelled(), .yes), (.endedBecause([.billing]), try cancelled(), .no),
            (.endedBecause([.cancelled]), try active(), .no), (.endedBecause([.cancelled]), try unsettled(), .unknown),
            (.endedAgo(Bounds(atLeast: .days(10))), try cancelled(), .yes),
            (.endedAgo(Bounds(atLeast: .days(10) + .milliseconds(1))), try cancelled(), .no),
            (.endedAgo(Bounds(atMost: .days(10))), try cancelled(), .yes),
            (.endedAgo(Bounds(atMost: .days(10) - .milliseconds(1))), try cancelled(), .no),
            (.endedAgo(Bounds(atLeast: .days(1))), try active(), .no),
            (.endsIn(Bounds(atMost: .days(20))), try active(.off), .yes),
            (.endsIn(Bounds(atMost: .days(20) - .milliseconds(1))), try active(.off), .no),
            (.endsIn(Bounds(atMost: .days(20))), try active(), .no),
            (.endsIn(Bounds(atMost: .days(20))), try DecidingSamples.facts(), .unknown),
            (.endsIn(Bounds(atMost: .days(20))), try cancelled(), .no),
        ] as [(SubscriptionTest, [SubscriberFact], Truth)] {
            #expect(try truth(DecidingSamples.subscription(test), facts) == expected, "\(test)")
        }
    }

    @Test("renewals and the length of the subscription: at least what is known, if the beginning is not")
    func run() throws {
        func run(isWhole: Bool) throws -> [SubscriberFact] {
            let ids = isWhole ? ["1", "2", "3"] : ["7", "8", "9"]
            var facts = [try TestFacts.renewal(signed: 40)]
            for (place, id) in ids.enumerated() {
                let (start, end) = (Double(place) * 20, Double(place + 1) * 20)
                facts.append(
                    try TestFacts.transaction(id, of: "1", start, end) { $0.reason = id == "1" ? .purchase : .renewal })
            }
            return facts
        }
        for (test, expectedOfWhole, expectedOfPart) in [
            (.renewals(Bounds(atLeast: 2)), .yes, .yes), (.renewals(Bounds(atLeast: 3)), .no, .yes),
            (.renewals(Bounds(atLeast: 4)), .no, .unknown), (.renewals(Bounds(atMost: 2)), .yes, .no),
            (.renewals(Bounds(atMost: 3)), .yes, .unknown), (.subscribedFor(Bounds(atLeast: .days(40))), .yes, .yes),
            (.subscribedFor(Bounds(atLeast: .days(41))), .no, .unknown),
            (.subscribedFor(Bounds(atMost: .days(39))), .no, .no), (.lastPeriod([.regular]), .yes, .yes),
            (.lastPeriod([.trial]), .no, .no), (.ownership([.purchased]), .yes, .yes),
            (.priceIncrease([.pending]), .no, .no),
        ] as [(SubscriptionTest, Truth, Truth)] {
            let condition = DecidingSamples.subscription(test)
            #expect(try truth(condition, run(isWhole: true)) == expectedOfWhole, "\(test), whole")
            #expect(try truth(condition, run(isWhole: false)) == expectedOfPart, "\(test), in part")
        }
    }

    @Test("what was never done is known only with a whole history")
    func never() throws {
        let refund = Revocation(date: .day(20), reason: .appIssue)
        for (test, witness, expectedOfWitness) in [
            (.everSubscribed(true), { _ in }, .yes),
            (.usedIntroductoryOffer(true), { $0.offer = AppliedOffer(type: .introductory) }, .yes),
            (.usedIntroductoryOffer(false), { $0.offer = AppliedOffer(type: .introductory) }, .no),
            (.refunded(RefundTest()), { $0.revocation = refund }, .yes),
            (.refunded(RefundTest(within: .days(20))), { $0.revocation = refund }, .yes),
            (.refunded(RefundTest(reasons: [.other])), { $0.revocation = refund }, .no),
            (.redeemed(RedemptionTest()), { $0.offer = AppliedOffer(type: .promotional, identifier: "half") }, .yes),
            (
                .redeemed(RedemptionTest(offers: ["other"])),
                { $0.offer = AppliedOffer(type: .promotional, identifier: "half") }, .no
            ),
        ] as [(CustomerTest, (inout Purchase) throws -> Void, Truth)] {
            #expect(try truth(.test(test), DecidingSamples.facts(witness)) == expectedOfWitness, "\(test)")
            let negative = try truth(.test(test), DecidingSamples.facts(isWhole: false))
            #expect(negative == (test == .everSubscribed(true) ? .yes : .unknown), "\(test)")
        }
        #expect(try truth(.test(.redeemed(RedemptionTest(count: Bounds(atMost: 0)))), DecidingSamples.facts()) == .yes)
        #expect(try truth(.test(.owns([ProductID("lifetime")])), DecidingSamples.facts()) == .no)
        #expect(try truth(.test(.owns([ProductID("lifetime")])), DecidingSamples.facts(isWhole: false)) == .unknown)
        #expect(try truth(.test(.everSubscribed(true)), []) == .unknown)
    }

    @Test("facts of the team, the date, the sample, the environment, the app")
    func others() throws {
        let team: [String: TeamFactValue] = [
            "episodes": .number(Array("40".utf8)), "risk": .text(Array("high".utf8)), "vip": .bool(true),
            "since": .text(Array("2024-01-01".utf8)),
        ]
        let january = Timestamp(dateOrTime: "2024-01-01")
        for (test, expected) in [
            (.fact(TeamFactTest(name: "episodes", .number(Bounds(atLeast: 40)))), .yes),
            (.fact(TeamFactTest(name: "episodes", .number(Bounds(atLeast: 41)))), .no),
            (.fact(TeamFactTest(name: "risk", .number(Bounds(atLeast: 41)))), .unknown),
            (.fact(TeamFactTest(name: "risk", .isOneOf([.text("high"), .text("low")]))), .yes),
            (.fact(TeamFactTest(name: "risk", .isOneOf([.text("low")]))), .no),
            (.fact(TeamFactTest(name: "nothing", .isOneOf([.text("low")]))), .unknown),
            (.fact(TeamFactTest(name: "nothing", .exists(true))), .no),
            (.fact(TeamFactTest(name: "nothing", .exists(false))), .yes),
            (.fact(TeamFactTest(name: "vip", .isOneOf([.bool(true)]))), .yes),
            (.fact(TeamFactTest(name: "since", .near(last: .days(100_000), next: nil))), .yes),
            (.fact(TeamFactTest(name: "since", .near(last: nil, next: .days(100_000)))), .no),
            (.fact(TeamFactTest(name: "since", .near(last: .days(1), next: .days(1)))), .no),
            (.fact(TeamFactTest(name: "risk", .near(last: .days(1), next: .days(1)))), .unknown),
            (.fact(TeamFactTest(name: "since", .date(DateRange(from: january)))), .yes),
            (.fact(TeamFactTest(name: "since", .date(DateRange(until: january)))), .no),
            (.fact(TeamFactTest(name: "risk", .date(DateRange(until: january)))), .unknown),
            (.date(DateRange(from: DecidingSamples.now)), .yes), (.date(DateRange(until: DecidingSamples.now)), .no),
            (.environment([.production]), .yes), (.environment([.sandbox]), .no),
            (.originalAppVersion(VersionRange(before: AppVersion("2.10"))), .yes),
            (.originalAppVersion(VersionRange(before: AppVersion("2.5.0"))), .no),
            (.originalPurchase(DateRange(until: .day(0))), .yes), (.share(ShareTest(share: 1, name: "s")), .yes),
            (.refundPending(false), .unknown), (.winBackOffers(.none), .yes), (.winBackOffers(.any), .no),
        ] as [(CustomerTest, Truth)] {
            #expect(try truth(.test(test), active(), team: team) == expected, "\(test)")
        }
        #expect(
            try truth(.test(.originalAppVersion(VersionRange(before: AppVersion("3")))), active(), .sandbox) == .unknown
        )
        #expect(try truth(.test(.share(ShareTest(share: 1, name: "s"))), []) == .unknown)
        #expect(try truth(.test(.winBackOffers(.none)), DecidingSamples.facts()) == .unknown)
    }

    @Test(
        "a refund request is known by notifications alone, and the App Store's own offers by a renewal info from after the end"
    )
    func silence() throws {
        let request = try TestFacts.refundRequest(.open, "1", signed: 35)
        let declined = try TestFacts.refundRequest(.declined, "1", signed: 35)
        let heard = try TestFacts.status(.active, signed: 1)
        for (test, facts, expected) in [
            (.refundPending(true), try active() + [request], .yes),
            (.refundPending(false), try active() + [request], .no),
            (.refundPending(false), try active() + [declined], .yes),
            (.refundPending(true), try active() + [declined], .no),
            (.refundPending(false), try active() + [heard], .yes), (.refundPending(false), try active(), .unknown),
            (.refundPending(true), try active(), .unknown), (.refundPending(false), [], .unknown),
            (.winBackOffers(.none), try cancelled(), .yes), (.winBackOffers(.any), try cancelled(), .no),
            (.winBackOffers(.offers(["w"])), try cancelled(), .no),
        ] as [(CustomerTest, [SubscriberFact], Truth)] {
            #expect(try truth(.test(test), facts) == expected, "\(test)")
        }
        for (signed, isKnown) in [(29.9, false), (30, true)] {
            let ended = try DecidingSamples.facts(renewal: TestFacts.renewal(signed: signed, .off), end: 30)
            let offered = try DecidingSamples.facts(
                renewal: TestFacts.renewal(signed: signed, .off) { $0.eligibleWinBackOfferIDs = ["w"] }, end: 30)
            #expect(try truth(.test(.winBackOffers(.none)), ended) == (isKnown ? .yes : .unknown))
            #expect(try truth(.test(.winBackOffers(.any)), ended) == (isKnown ? .no : .unknown))
            #expect(try truth(.test(.winBackOffers(.offers(["w"]))), ended) == (isKnown ? .no : .unknown))
            #expect(try truth(.test(.winBackOffers(.none)), offered) == .no)
            #expect(try truth(.test(.winBackOffers(.offers(["w"]))), offered) == .yes)
        }
    }

    @Test("what nobody has said is unknown: rank, ownership, price increase, first download, sample")
    func unsaid() throws {
        let silent = try DecidingSamples.facts()
        let unowned = try DecidingSamples.facts(renewal: TestFacts.renewal(signed: 1)) { $0.ownership = nil }
        let unranked = try DecidingSamples.facts { $0 = Purchase($0, to: try ProductID("basic")) }
        for (test, facts, expected) in [
            (.rank([.lower]), unranked, .unknown), (.rank([.highest]), try active(), .no),
            (.ownership([.purchased]), unowned, .unknown), (.ownership([.familyShared]), try active(), .no),
            (.priceIncrease([.pending]), silent, .unknown), (.priceIncrease([.pending]), try active(), .no),
            (
                .priceIncrease([.pending]),
                try DecidingSamples.facts(
                    renewal: TestFacts.renewal(signed: 1) { $0.priceIncreaseStatus = .unanswered }), .yes
            ),
        ] as [(SubscriptionTest, [SubscriberFact], Truth)] {
            #expect(try truth(DecidingSamples.subscription(test), facts) == expected, "\(test)")
        }
        let state = SubscriberState(try active(), at: DecidingSamples.now)
        let context = try DecidingSamples.context(CustomerFacts(state: state, environment: .production))
        for test in [
            .originalPurchase(DateRange(until: .day(0))), .originalAppVersion(VersionRange(before: AppVersion("3"))),
        ] as [CustomerTest] {
            #expect(Condition.test(test).truth(in: context) == .unknown)
        }
        #expect(
            try truth(
                .test(.share(ShareTest(share: 1, name: "s"))),
                DecidingSamples.facts(isWhole: false) { $0.appTransactionID = nil }) == .unknown,
            "an earlier subscription may decide")
        var lifetime = Purchase(productID: try ProductID("lifetime"), purchaseDate: .day(1))
        lifetime.type = .nonConsumable
        let owned = try active() + [TestFacts.fact(.transaction(lifetime), "9", of: "9", signed: .day(1))]
        #expect(try truth(.test(.owns([ProductID("lifetime")])), owned) == .yes)
        #expect(try truth(.test(.owns([ProductID("lifetime"), ProductID("other")])), owned) == .yes)
    }

    @Test("bounds include their ends: within, until, and each limit to the millisecond")
    func edges() throws {
        let now = DecidingSamples.now
        let refunded = try DecidingSamples.facts { $0.revocation = Revocation(date: .day(20), reason: .appIssue) }
        let redeemed = try DecidingSamples.facts { $0.offer = AppliedOffer(type: .promotional, identifier: "half") }
        for (test, facts, expected) in [
            (.refunded(RefundTest(within: .days(20))), refunded, .yes),
            (.refunded(RefundTest(within: .days(20) - .milliseconds(1))), refunded, .no),
            (.redeemed(RedemptionTest(within: .days(40))), redeemed, .yes),
            (.redeemed(RedemptionTest(within: .days(40) - .milliseconds(1))), redeemed, .no),
            (.redeemed(RedemptionTest(count: Bounds(atLeast: 1, atMost: 1))), redeemed, .yes),
            (.redeemed(RedemptionTest(count: Bounds(atLeast: 2))), redeemed, .no),
            (.date(DateRange(until: now.after)), redeemed, .yes), (.date(DateRange(from: now.after)), redeemed, .no),
            (.originalPurchase(DateRange(until: .day(-100))), redeemed, .no),
            (.originalPurchase(DateRange(until: Timestamp.day(-100).after)), redeemed, .yes),
            (.originalPurchase(DateRange(from: .day(-100))), redeemed, .yes),
            (.originalAppVersion(VersionRange(from: AppVersion("2.5"))), redeemed, .yes),
            (.originalAppVersion(VersionRange(from: AppVersion("2.5.1"))), redeemed, .no),
        ] as [(CustomerTest, [SubscriberFact], Truth)] {
            #expect(try truth(.test(test), facts) == expected, "\(test)")
        }
        for (test, expected) in [
            (.endsIn(Bounds(atLeast: .days(20))), .yes), (.endsIn(Bounds(atLeast: .days(20) + .milliseconds(1))), .no),
            (.subscribedFor(Bounds(atMost: .days(40))), .yes),
            (.subscribedFor(Bounds(atMost: .days(40) - .milliseconds(1))), .no),
            (.subscribedFor(Bounds(atLeast: .days(40))), .yes),
            (.subscribedFor(Bounds(atLeast: .days(40) + .milliseconds(1))), .no),
        ] as [(SubscriptionTest, Truth)] {
            #expect(try truth(DecidingSamples.subscription(test), active(.off)) == expected, "\(test)")
        }
    }

    @Test("where the App Store did not answer, what is old says only who bought it")
    func old() throws {
        let facts = try active(.off)
        func truth(_ condition: Condition, oldBefore: Timestamp?) throws -> Truth {
            let state = SubscriberState(
                of: SubscriberFacts(facts), environment: .production,
                evidence: HistoryEvidence(isAppStoreSilent: oldBefore != nil), oldBefore: oldBefore,
                at: DecidingSamples.now)
            return condition.truth(
                in: try DecidingSamples.context(CustomerFacts(state: state, environment: .production)))
        }
        let tests: [SubscriptionTest] = [
            .status([.active]), .autoRenew(false), .endsIn(Bounds(atMost: .days(20))), .renewals(Bounds(atMost: 0)),
            .lastPeriod([.regular]), .pendingOffer(.some(false)), .rank([.lower]),
        ]
        for test in tests {
            #expect(try truth(DecidingSamples.subscription(test), oldBefore: nil) == .yes, "\(test)")
            #expect(try truth(DecidingSamples.subscription(test), oldBefore: .day(1)) == .yes, "\(test)")
            #expect(try truth(DecidingSamples.subscription(test), oldBefore: .day(2)) == .unknown, "\(test)")
        }
        #expect(try truth(DecidingSamples.subscription(.ownership([.purchased])), oldBefore: .day(2)) == .yes)
        #expect(try truth(.test(.winBackOffers(.none)), oldBefore: .day(2)) == .unknown)
        #expect(try truth(.test(.redeemed(RedemptionTest(count: Bounds(atMost: 0)))), oldBefore: .day(1)) == .yes)
    }

    @Test("of each group, one with access counts, else the one that began last; the others are history")
    func groups() throws {
        let facts =
            try cancelled() + [
                TestFacts.transaction("5", of: "5", 35, 65) { $0.appTransactionID = try TransactionID("A") },
                TestFacts.renewal(of: "5", signed: 35),
            ]
        #expect(try truth(DecidingSamples.subscription(.status([.expired])), facts) == .no)
        #expect(try truth(DecidingSamples.subscription(.status([.active])), facts) == .yes)
        let lapsed = try TestFacts.transaction("1", 0, 30) { $0.appTransactionID = try TransactionID("1") }
        let second =
            try [lapsed, TestFacts.status(.expired, signed: 30.1)] + [
                TestFacts.transaction("7", of: "7", -10, 90) { $0.appTransactionID = try TransactionID("2") },
                TestFacts.renewal(of: "7", signed: 1),
            ]
        #expect(try truth(DecidingSamples.subscription(.status([.active])), second) == .yes, "of another Apple Account")
        #expect(try truth(.not(DecidingSamples.subscription(.status([.active]))), second) == .no)
        let other = SubscriptionCondition(groups: .some(["h"]), tests: [.status([.active])])
        #expect(try truth(.subscription(other), facts) == .no, "the history is whole, so there is none")
        let any = SubscriptionCondition(groups: .any, tests: [.status([.expired])])
        #expect(try truth(.subscription(any), facts) == .no)
        #expect(try truth(.subscription(any), DecidingSamples.facts(isWhole: false)) == .unknown)
    }

    @Test("without a group, a condition about a product looks at the groups that contain it")
    func products() throws {
        func condition(_ products: String...) throws -> Condition {
            let ids = Set(try products.map { try ProductID($0) })
            return .subscription(SubscriptionCondition(products: ids, tests: [.status([.active])]))
        }
        func other(_ productID: String) throws -> SubscriberFact {
            try TestFacts.transaction("8", of: "7", 20, 90) {
                $0 = Purchase($0, to: try ProductID(productID))
                $0.subscriptionGroupID = "h"
            }
        }
        let monthly = try DecidingSamples.facts(isWhole: false)
        #expect(try truth(condition("other"), monthly + [other("other")]) == .yes, "a product of another group")
        #expect(try truth(condition("other", "lifetime"), monthly + [other("other")]) == .yes)
        // The catalogue names the group h of the product, and the customer has another product in it.
        #expect(try truth(condition("other"), monthly + [other("more")]) == .no)
        #expect(try truth(condition("other", "yearly"), monthly + [other("more")]) == .no)
        #expect(try truth(.not(condition("other")), monthly + [other("more")]) == .yes)
        // A subscription in the group h, or to a product of an unknown group, might exist.
        #expect(try truth(condition("other"), monthly) == .unknown)
        #expect(try truth(.not(condition("other")), monthly) == .unknown)
        #expect(try truth(condition("stray"), monthly + [other("more")]) == .unknown)
        #expect(try truth(condition("other"), DecidingSamples.facts()) == .no, "the history is whole, so there is none")
        #expect(try truth(condition("yearly"), monthly) == .no)
        #expect(try truth(condition("monthly"), monthly) == .yes)
        // With a group, only that one is looked at.
        let inGroup = SubscriptionCondition(groups: .some(["g"]), products: [try ProductID("other")], tests: [])
        #expect(try truth(.subscription(inGroup), monthly + [other("other")]) == .no)
    }

    @Test("a sample holds its share of customers, the same ones every time")
    func share() throws {
        var inside = 0
        for number in 1...2000 {
            let facts = [
                try TestFacts.transaction("\(number)", of: "\(number)", 0, 60) {
                    $0.appTransactionID = try TransactionID("7\(number)")
                }
            ]
            if try truth(.test(.share(ShareTest(share: 0.9, name: "winback"))), facts) == .yes { inside += 1 }
        }
        #expect((1740...1860).contains(inside))
    }

    @Test(
        "the place in a sample is the Apple Account's, whatever else is shown; without one, it needs the whole history")
    func place() throws {
        let test = ShareTest(share: 0.5, name: "winback")
        func place(_ facts: [SubscriberFact]) throws -> Double? {
            test.position(in: try DecidingSamples.context(DecidingSamples.customer(facts)))
        }
        func purchase(_ id: String, _ appleAccount: String?) throws -> SubscriberFact {
            try TestFacts.transaction(id, of: id, 0, 60) {
                $0.appTransactionID = try appleAccount.map { try TransactionID($0) }
            }
        }
        let ofA = try place([purchase("5", "A")])
        #expect(ofA != nil)
        #expect(try place([purchase("3", "A"), purchase("5", "A"), purchase("2", nil)]) == ofA)
        #expect(try place([purchase("5", "B")]) != ofA)
        #expect(try place([purchase("5", "A"), purchase("6", "B")]) == nil, "another purchase could change it")
        let both = try [purchase("5", "A"), purchase("6", "B")]
        let histories = try ["5", "6"].map { try TestFacts.history(of: $0, signed: 40) }
        #expect(try place(both + histories) == ofA)
        #expect(try place([purchase("5", nil)]) == nil)
        #expect(try place([purchase("5", nil), TestFacts.history(of: "5", signed: 40)]) != nil)
    }

    @Test("a group without gaps tells of the offers that the catalogue has in it, and of nothing else")
    func groupHistory() throws {
        let facts = try Array(DecidingSamples.facts().dropLast())
        func never(_ offers: Set<String>?) throws -> Truth {
            try truth(.test(.redeemed(RedemptionTest(offers: offers, count: Bounds(atMost: 0)))), facts)
        }
        #expect(try never(["half"]) == .yes)
        #expect(try never(["elsewhere"]) == .unknown && never(["half", "elsewhere"]) == .unknown)
        #expect(try never(["deleted"]) == .unknown && never(nil) == .unknown)
        #expect(try truth(.test(.refunded(RefundTest(expected: false))), facts) == .unknown)
        #expect(try truth(.test(.owns([ProductID("lifetime")])), facts) == .unknown)
        #expect(try truth(.test(.usedIntroductoryOffer(false)), facts) == .unknown)
        let any = SubscriptionCondition(groups: .any, tests: [.status([.expired])])
        #expect(try truth(.subscription(any), facts) == .unknown)
    }
}

extension Purchase {
    /// The same period of another product.
    fileprivate init(_ other: Purchase, to productID: ProductID) {
        self.init(productID: productID, purchaseDate: other.purchaseDate)
        (type, expiresDate, ownership, reason) = (other.type, other.expiresDate, other.ownership, other.reason)
        (subscriptionGroupID, price) = (other.subscriptionGroupID, other.price)
    }
}
