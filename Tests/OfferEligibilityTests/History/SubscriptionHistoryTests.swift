import OfferCore
import Testing

@testable import HistoryTestSupport
@testable import OfferEligibility

@Suite("What happened to a subscription, for reports")
struct SubscriptionHistoryTests {
    private static func history(_ facts: [SubscriberFact], until day: Double) throws -> SubscriptionHistory? {
        SubscriptionHistory(of: SubscriberFacts(facts), of: Catalogue.App(offers: [:]), until: .day(day))
    }

    private static func change(
        _ type: String, at day: Double, _ status: AutoRenewStatus = .on, _ change: (inout Renewal) -> Void = { _ in }
    ) throws -> SubscriberFact {
        var renewal = Renewal(productID: try ProductID("monthly"), autoRenewStatus: status)
        change(&renewal)
        return try TestFacts.fact(
            .renewalChange(RenewalChange(type: type, subtype: nil, renewal: renewal)), "c\(Int(day))", of: "1",
            signed: .day(day))
    }

    @Test("a period has its price, place and plan, and gives access until the next one")
    func periods() throws {
        let history = try #require(
            try Self.history(
                [
                    TestFacts.transaction("1", 0, 7) {
                        $0.offer = AppliedOffer(type: .introductory, discountType: .freeTrial)
                        ($0.price, $0.storefront, $0.billingPlan) = (0, "DEU", .billedUpFront)
                    },
                    TestFacts.transaction("2", 7, 37), TestFacts.transaction("3", 20, 50) { $0.reason = .purchase },
                    TestFacts.transaction("4", 50, 80),
                ], until: 45))
        #expect(history.periods.map(\.start) == [.day(0), .day(7), .day(20)])
        #expect(history.periods.map(\.accessEnd) == [.day(7), .day(20), .day(50)])
        #expect(history.periods.map(\.kind) == [.trial, .regular, .regular])
        #expect(history.periods[0].storefront == "DEU" && history.periods[0].billingPlan == .billedUpFront)
        #expect(history.periods.map(\.isRenewal) == [false, true, false])
        #expect(history.isKnownFromStart && history.paidFor == .days(38))
        #expect(try Self.history([TestFacts.transaction("2", 7, 37)], until: 45)?.isKnownFromStart == false)
    }

    @Test("someone else's subscription, and one of the future, have no history")
    func none() throws {
        #expect(try Self.history([TestFacts.transaction("1", 0, 30) { $0.ownership = .familyShared }], until: 9) == nil)
        #expect(try Self.history([TestFacts.transaction("1", 0, 30) { $0.ownership = .assigned }], until: 9) == nil)
        #expect(try Self.history([TestFacts.transaction("1", 10, 30)], until: 9) == nil)
    }

    @Test("a failed renewal is recovered by the next one, within the grace period or after a gap")
    func recovery() throws {
        let first = try TestFacts.transaction("1", 0, 30)
        func period(_ facts: [SubscriberFact], until day: Double = 100) throws -> SubscriptionHistory.Period? {
            try Self.history([first] + facts, until: day)?.periods.first
        }
        let failure = try Self.change("DID_FAIL_TO_RENEW", at: 30.01) { $0.gracePeriodExpiresDate = .day(46) }
        let paid = try Self.change("DID_RENEW", at: 33)
        // The billing date does not move.
        let inGrace = try period([failure, paid, TestFacts.transaction("2", 30, 60)])
        #expect(inGrace?.hasFailed == true && inGrace?.recoveredAt == .day(33) && inGrace?.accessEnd == .day(30))
        let late = try period([TestFacts.transaction("2", 50, 80)])
        #expect(late?.hasFailed == true && late?.recoveredAt == .day(50) && late?.accessEnd == .day(30))
        let open = try period([failure])
        #expect(open?.hasFailed == true && open?.recoveredAt == nil && open?.accessEnd == .day(46))
        #expect(open?.isOver == false && open?.endedBecause == .billing)
        #expect(try period([failure], until: 30)?.hasFailed == false)
        // Renewals may start a little late without a failure.
        let usual = try period([TestFacts.transaction("2", 30.02, 60)])
        #expect(usual?.hasFailed == false && usual?.accessEnd == .day(30.02))
        let refunded = try Self.history(
            [
                TestFacts.transaction("1", 0, 30) {
                    $0.revocation = Revocation(date: .day(29.99), percentage: 100_000)
                },
                TestFacts.transaction("2", 30, 60),
            ], until: 100)
        #expect(refunded?.periods.map(\.accessEnd) == [.day(29.99), .day(60)])
        #expect(try period([TestFacts.transaction("2", 50, 80) { $0.reason = .purchase }])?.hasFailed == false)
        // The App Store tries for 60 days. After a longer gap, other renewals are unknown.
        #expect(try period([TestFacts.transaction("2", 90, 120)])?.recoveredAt == .day(90))
        #expect(try period([TestFacts.transaction("2", 90.01, 120)])?.hasFailed == false)
        let much = try period([failure, TestFacts.transaction("2", 200, 230)], until: 300)
        #expect(much?.hasFailed == true && much?.recoveredAt == nil)
    }

    @Test("the last message says if anything can follow")
    func over() throws {
        let facts = [
            try TestFacts.transaction("1", 0, 30), try Self.change("DID_FAIL_TO_RENEW", at: 30),
            try Self.change("EXPIRED", at: 90) { $0.expirationIntent = .billingError },
        ]
        #expect(try Self.history(facts, until: 89)?.periods.last?.isOver == false)
        #expect(try Self.history(facts, until: 90)?.periods.last?.isOver == true)
        let again = [
            facts[0], try Self.change("DID_CHANGE_RENEWAL_STATUS", at: 29, .off),
            try Self.change("DID_CHANGE_RENEWAL_STATUS", at: 29.5), facts[1],
        ]
        #expect(try Self.history(again, until: 40)?.periods.last?.isOver == false)
    }

    @Test("only the renewal info of the current period says that the customer has not agreed")
    func consent() throws {
        func awaits(_ day: Double, _ status: AutoRenewStatus = .on, until end: Double = 20) throws -> Bool? {
            try Self.history(
                [
                    TestFacts.transaction("1", 0, 30),
                    TestFacts.renewal(signed: day, status) { $0.priceIncreaseStatus = .unanswered },
                ], until: end)?.awaitsConsent
        }
        #expect(try awaits(10) == true)
        #expect(try awaits(10, .off) == false)
        #expect(try awaits(25) == false, "it was signed later")
        let next = try Self.history(
            [
                TestFacts.transaction("1", 0, 30), TestFacts.transaction("2", 30, 60),
                TestFacts.renewal(signed: 10) { $0.priceIncreaseStatus = .unanswered },
            ], until: 40)
        #expect(next?.awaitsConsent == false)
    }
}
