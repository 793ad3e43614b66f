import OfferCore
import OfferEligibility
import Testing

@testable import HistoryTestSupport

@Suite("Commitments of twelve months")
struct CommitmentTests {
    /// A bill of a commitment that began on day 0 and ends on day 360.
    private static func bill(_ number: Int) throws -> SubscriberFact {
        let start = Double(number - 1) * 30
        return try TestFacts.transaction(number == 1 ? "1" : "\(100 + number)", start, start + 30) {
            $0.billingPlan = .monthly
            $0.commitment = Commitment(
                billingPeriodNumber: Int64((number - 1) % 12 + 1), totalBillingPeriods: 12,
                expiresDate: .day(number > 12 ? 720 : 360), price: 119_880)
        }
    }

    private static func renewal(signed: Double, bill: AutoRenewStatus, commitment: AutoRenewStatus) throws
        -> SubscriberFact
    {
        try TestFacts.renewal(signed: signed, bill) {
            $0.commitment = CommitmentRenewal(
                autoRenewProductID: try ProductID("yearly"), autoRenewStatus: commitment,
                billingPlanType: .billedUpFront)
        }
    }

    private func truth(_ test: SubscriptionTest, _ facts: [SubscriberFact], at day: Double) throws -> Truth {
        let customer = DecidingSamples.customer(facts, at: .day(day))
        return DecidingSamples.subscription(test).truth(in: try DecidingSamples.context(customer, at: .day(day)))
    }

    @Test("auto-renew is the choice for the end of the commitment, not for the next bill")
    func autoRenew() throws {
        let bills = try (1...2).map { try Self.bill($0) }
        let leaving = bills + [try Self.renewal(signed: 40, bill: .on, commitment: .off)]
        let staying = bills + [try Self.renewal(signed: 40, bill: .on, commitment: .on)]
        #expect(subscription(leaving, at: .day(41))?.autoRenews == false)
        #expect(subscription(staying, at: .day(41))?.autoRenews == true)
        #expect(subscription(staying, at: .day(41))?.autoRenewProductID == (try ProductID("yearly")))
        #expect(try truth(.endsIn(Bounds(atMost: .days(319))), leaving, at: 41) == .yes)
        #expect(try truth(.endsIn(Bounds(atMost: .days(318))), leaving, at: 41) == .no)
        #expect(try truth(.endsIn(Bounds(atMost: .days(400))), staying, at: 41) == .no)
    }

    @Test("a cancelled commitment is renewed by bills until its end, and then expires")
    func cancelled() throws {
        let bills = try (1...12).map { try Self.bill($0) }
        let last = bills + [try Self.renewal(signed: 331, bill: .off, commitment: .off)]
        #expect(subscription(last, at: .day(359))?.status == .active)
        #expect(subscription(last, at: .day(361))?.status == .expired)
        #expect(subscription(last, at: .day(361))?.endedBecause == .cancelled)
        let middle = [bills[0], try Self.renewal(signed: 1, bill: .on, commitment: .off)]
        #expect(subscription(middle, at: .day(31))?.endedBecause == nil)
    }

    @Test("each bill after the first is a renewal")
    func renewals() throws {
        let bills = try (1...15).map { try Self.bill($0) }
        #expect(subscription(bills, at: .day(359))?.renewals == 11)
        #expect(subscription(bills, at: .day(421))?.renewals == 14)
    }

    @Test("within a commitment, a missing choice is unknown; the choice for the next bill does not replace it")
    func unknownChoice() throws {
        let (bill, plain) = (try Self.bill(1), try TestFacts.transaction("1", 0, 30) { $0.billingPlan = .monthly })
        let empty = try TestFacts.renewal(signed: 1, .on) { $0.commitment = CommitmentRenewal() }
        for facts in [
            [bill, try TestFacts.renewal(signed: 1, .on)], [plain, try TestFacts.renewal(signed: 1, .on)],
            [bill, empty], [try TestFacts.transaction("1", 0, 30), empty],
        ] {
            #expect(subscription(facts, at: .day(2))?.autoRenews == nil)
            for isOn in [true, false] { #expect(try truth(.autoRenew(isOn), facts, at: 2) == .unknown) }
            #expect(try truth(.renewsTo([.same]), facts, at: 2) == .unknown)
            #expect(try truth(.endsIn(Bounds(atMost: .days(400))), facts, at: 2) == .unknown)
            #expect(try truth(.pendingOffer(.some(false)), facts, at: 2) == .yes, "the renewal info says so")
        }
        let noProduct = try TestFacts.renewal(signed: 1, .on) {
            $0.commitment = CommitmentRenewal(autoRenewStatus: .on)
        }
        #expect(try truth(.renewsTo([.same]), [bill, noProduct], at: 2) == .unknown)
        #expect(try truth(.autoRenew(true), [bill, noProduct], at: 2) == .yes)
    }

    @Test("after a commitment, the renewal info's own members say what follows")
    func over() throws {
        let facts =
            try (1...12).map { try Self.bill($0) } + [
                try TestFacts.renewal(signed: 361, .off) { $0.expirationIntent = .cancelled }
            ]
        #expect(subscription(facts, at: .day(362))?.status == .expired)
        #expect(subscription(facts, at: .day(362))?.autoRenews == false)
        #expect(try truth(.autoRenew(false), facts, at: 362) == .yes)
        let silent = [try Self.bill(1), try TestFacts.renewal(signed: 1, .on)]
        #expect(subscription(silent, at: .day(40))?.autoRenews == nil, "the commitment goes on")
    }

    @Test("a cancelled commitment ends with its last bill, and at an unknown time if the App Store does not state it")
    func end() throws {
        let cancelled = try Self.renewal(signed: 1, bill: .on, commitment: .off)
        let extended = try TestFacts.transaction("1", 0, 370) {
            ($0.billingPlan, $0.commitment) = (.monthly, Commitment(billingPeriodNumber: 12, expiresDate: .day(360)))
        }
        #expect(try truth(.endsIn(Bounds(atMost: .days(365))), [extended, cancelled], at: 2) == .no)
        let unstated = [try TestFacts.transaction("1", 0, 30), cancelled]
        #expect(try truth(.endsIn(Bounds(atMost: .days(30))), unstated, at: 2) == .unknown)
    }

    @Test("the plan, the end and the bill of a commitment can be tested, at the edges of the bounds")
    func conditions() throws {
        let bills = try (1...3).map { try Self.bill($0) }
        let upFront = [try TestFacts.transaction("1", 0, 365) { $0.billingPlan = .billedUpFront }]
        let old = [try TestFacts.transaction("1", 0, 365)]
        let future = [
            try TestFacts.transaction("1", 0, 365) { $0.billingPlan = BillingPlanType(rawValue: "QUARTERLY") }
        ]
        let vague = [
            try TestFacts.transaction("1", 0, 100) {
                $0.billingPlan = .monthly
                $0.commitment = Commitment()
            }, try Self.renewal(signed: 1, bill: .on, commitment: .off),
        ]
        for (test, facts, expected) in [
            (.billingPlan([.monthly]), bills, .yes), (.billingPlan([.billedUpFront]), bills, .no),
            (.billingPlan([.billedUpFront]), old, .unknown),
            (.commitmentEndsIn(Bounds(atMost: .days(290))), bills, .yes),
            (.commitmentEndsIn(Bounds(atMost: .days(289))), bills, .no),
            (.commitmentEndsIn(Bounds(atLeast: .days(0))), upFront, .no),
            (.commitmentEndsIn(Bounds(atLeast: .days(0))), old, .unknown),
            (.commitmentEndsIn(Bounds(atLeast: .days(0))), vague, .unknown),
            (.endsIn(Bounds(atLeast: .days(0))), vague, .unknown),
            (.commitmentPeriod(Bounds(atLeast: 3)), bills, .yes), (.commitmentPeriod(Bounds(atMost: 2)), bills, .no),
            (.commitmentPeriod(Bounds(atMost: 2)), upFront, .no),
            (.commitmentPeriod(Bounds(atMost: 2)), future, .unknown),
            (.commitmentEndsIn(Bounds(atLeast: .days(0))), future, .unknown),
            (.commitmentPeriod(Bounds(atMost: 2)), vague, .unknown),
        ] as [(SubscriptionTest, [SubscriberFact], Truth)] {
            #expect(try truth(test, facts, at: 70) == expected, "\(test.kind)")
        }
    }

    @Test("a switch of auto-renew within a commitment has a time only if it was certainly the choice for its end")
    func switched() throws {
        func change(
            _ day: Double, bill: AutoRenewStatus, _ commitment: AutoRenewStatus?,
            type: String = RenewalChange.autoRenewType
        ) throws -> SubscriberFact {
            var renewal = Renewal(productID: try ProductID("monthly"), autoRenewStatus: bill)
            renewal.commitment = CommitmentRenewal(autoRenewStatus: commitment)
            let value = RenewalChange(type: type, subtype: nil, renewal: renewal)
            return try TestFacts.fact(.renewalChange(value), "c\(day)", of: "1", signed: .day(day))
        }
        let bills = try (1...12).map { try Self.bill($0) }
        let now = try Self.renewal(signed: 339, bill: .off, commitment: .off)
        let recently = SubscriptionTest.autoRenewChanged(to: false, within: .days(3))
        func found(_ changes: [SubscriberFact]) throws -> Set<Truth> {
            Set(try [changes, changes.reversed()].map { try truth(recently, bills + [now] + $0, at: 340) })
        }
        #expect(try found([change(339, bill: .on, .off)]) == [.yes])
        #expect(try found([change(339, bill: .off, .off)]) == [.unknown], "perhaps only the next bill")
        #expect(try found([change(339, bill: .off, nil)]) == [.unknown])
        let first = try change(40, bill: .on, .off)
        #expect(try found([first]) == [.unknown], "it may have been switched on and off since")
        #expect(try found([first, change(339, bill: .off, .off)]) == [.unknown], "only the bill")
        let on = try change(200, bill: .on, .on)
        #expect(try found([first, on, change(339, bill: .off, .off)]) == [.yes])
        let plan = try change(200, bill: .on, .on, type: "DID_CHANGE_RENEWAL_PREF")
        #expect(try found([first, plan, change(339, bill: .off, .off)]) == [.yes])
        let plain = RenewalChange(
            type: RenewalChange.autoRenewType, subtype: nil,
            renewal: Renewal(productID: try ProductID("monthly"), autoRenewStatus: .off))
        #expect(
            try found([TestFacts.fact(.renewalChange(plain), "c", of: "1", signed: .day(339))]) == [.unknown],
            "it names no choice for the end")
    }

    @Test("the storefront is that of the customer's latest purchase")
    func storefront() throws {
        func facts(_ storefronts: [String?]) throws -> [SubscriberFact] {
            try storefronts.enumerated().map { place, storefront in
                try TestFacts.transaction("\(place + 1)", Double(place) * 30, Double(place + 1) * 30) {
                    $0.storefront = storefront
                }
            }
        }
        for (storefronts, expected) in [
            (["USA", "DEU"], .yes), (["DEU", "USA"], .no), (["DEU", nil], .unknown), ([nil], .unknown), ([], .unknown),
        ] as [([String?], Truth)] {
            let context = try DecidingSamples.context(DecidingSamples.customer(try facts(storefronts)))
            #expect(Condition.test(.storefront(["DEU", "FRA"])).truth(in: context) == expected, "\(storefronts)")
        }
        let shared = try TestFacts.transaction("9", 90, 120) { ($0.storefront, $0.ownership) = ("USA", .familyShared) }
        let context = try DecidingSamples.context(DecidingSamples.customer(try facts(["DEU"]) + [shared]))
        #expect(Condition.test(.storefront(["DEU"])).truth(in: context) == .yes, "a share is another's purchase")
    }
}
