import OfferCore
import OfferEligibility
import Testing

@testable import HistoryTestSupport

@Suite("Offers in use")
struct OfferUseTests {
    private typealias Make = TestFacts

    private static func offer(
        _ identifier: String?, _ type: OfferType = .promotional, _ discount: OfferDiscountType? = .payAsYouGo
    ) -> AppliedOffer { AppliedOffer(type: type, identifier: identifier, discountType: discount) }

    private static func transaction(
        _ id: String, _ start: Double, _ end: Double, _ offer: AppliedOffer?
    ) throws -> SubscriberFact { try Make.transaction(id, start, end) { $0.offer = offer } }

    private static func redemptions(_ facts: [SubscriberFact]) -> [Redemption] {
        SubscriberState(facts, at: .day(1000)).redemptions
    }

    @Test("trap 34: a running trial shows in the transaction, and the renewal info speaks of the next period")
    func trial() throws {
        let facts = [
            try Self.transaction("1", 0, 7, Self.offer(nil, .introductory, .freeTrial)),
            try Make.renewal(signed: 1) { $0.offer = Self.offer("next") },
        ]
        let known = subscription(facts, at: .day(2))
        #expect(known?.lastPeriod == .trial)
        #expect(known?.offerID == nil)
        #expect(known?.pendingOffer?.identifier == "next")
        #expect(subscription(facts, at: .day(8))?.pendingOffer == nil)
    }

    @Test("each type of offer is a kind of period, retention offers and unknown types included")
    func kinds() throws {
        let kinds: [(AppliedOffer?, Subscription.PeriodKind)] = [
            (nil, .regular), (Self.offer(nil, .introductory), .introductory), (Self.offer("a"), .promotional),
            (Self.offer("a", .promotional, .freeTrial), .promotional), (Self.offer("a", .offerCode), .offerCode),
            (Self.offer("a", .winBack), .winBack), (Self.offer("a", .retention), .retention),
            (Self.offer("a", .init(rawValue: 6)), .otherOffer),
        ]
        for (offer, kind) in kinds {
            #expect(subscription([try Self.transaction("1", 0, 7, offer)], at: .day(1))?.lastPeriod == kind)
        }
    }

    @Test("trap 35: an offer that an active subscriber redeems shows in the renewal info first and counts once")
    func pendingThenShown() throws {
        let first = try Make.transaction("1", 0, 30)
        let pending = try Make.renewal(signed: 10) { $0.offer = Self.offer("save") }
        let redeemed = Self.redemptions([first, pending])
        #expect(redeemed.map(\.offerID) == ["save"])
        #expect(redeemed.first?.transactionID == nil)
        #expect(redeemed.first?.at == .day(10))
        let shown = try Self.transaction("2", 30, 60, Self.offer("save"))
        #expect(Self.redemptions([first, pending, shown]).map(\.at) == [.day(30)])
        let early = try Make.renewal(signed: 29.9) {
            $0.renewalDate = .day(60)
            $0.offer = Self.offer("save")
        }
        #expect(Self.redemptions([first, shown, early]).map(\.at) == [.day(30)])
    }

    @Test("a renewal info signed before a longer period says nothing about the shorter periods that replaced it")
    func replacedLongPeriod() throws {
        let yearly = try ProductID("yearly")
        let early = try Make.renewal(signed: 29.9) { renewal in
            renewal = Renewal(productID: yearly, autoRenewStatus: .on)
            (renewal.autoRenewProductID, renewal.renewalDate) = (yearly, .day(395))
            renewal.offer = Self.offer("save")
        }
        let facts = try [
            Make.transaction("1", 0, 30), early,
            Make.transaction("2", 30, 395) { purchase in
                let monthly = purchase
                purchase = Purchase(productID: yearly, purchaseDate: monthly.purchaseDate)
                (purchase.type, purchase.ownership, purchase.reason) = (monthly.type, .purchased, .renewal)
                (purchase.expiresDate, purchase.offer) = (monthly.expiresDate, Self.offer("save"))
            },
            Make.transaction("3", 35, 65) { $0.reason = .purchase }, Make.transaction("4", 65, 95),
        ]
        #expect(Self.redemptions(facts + facts.announcements).map(\.at) == [.day(30)])
        #expect(subscription(facts, at: .day(66))?.pendingOffer == nil)
    }

    @Test("a pending offer that another transaction overtook was redeemed all the same")
    func overtaken() throws {
        let pending = try Make.renewal(signed: 10) { $0.offer = Self.offer("save") }
        let facts = [try Make.transaction("1", 0, 30), pending, try Make.transaction("2", 30, 60)]
        #expect(Self.redemptions(facts).map(\.offerID) == ["save"])
    }

    @Test("several periods of one offer are one redemption")
    func severalPeriods() throws {
        let facts = [
            try Make.transaction("1", 0, 30), try Self.transaction("2", 30, 60, Self.offer("p")),
            try Self.transaction("3", 60, 90, Self.offer("p")),
            try Make.renewal(signed: 61) { $0.offer = Self.offer("p") },
        ]
        #expect(Self.redemptions(facts).map(\.transactionID?.text.description) == ["2"])
    }

    @Test("a prepaid or free offer has one period, so the same offer again is another redemption")
    func onePeriodOffers() throws {
        for discount in [OfferDiscountType.freeTrial, .payUpFront] {
            let facts = [
                try Self.transaction("1", 0, 30, Self.offer("p", .promotional, discount)),
                try Self.transaction("2", 30, 60, Self.offer("p", .promotional, discount)),
                try Make.renewal(signed: 31) { $0.offer = Self.offer("p", .promotional, discount) },
            ]
            #expect(Self.redemptions(facts).map(\.at) == [.day(0), .day(30), .day(31)])
        }
    }

    @Test("refunded offers count, and one offer ID under two products is two offers")
    func refundedAndProducts() throws {
        let refunded = try Make.transaction("1", 0, 30) {
            $0.offer = Self.offer("p")
            $0.revocation = Revocation(date: .day(2))
        }
        #expect(Self.redemptions([refunded]).count == 1)
        let pending = try Make.renewal(signed: 3) {
            $0.autoRenewProductID = try ProductID("yearly")
            $0.offer = Self.offer("p")
        }
        #expect(Self.redemptions([refunded, pending]).map(\.productID.text.description) == ["monthly", "yearly"])
    }

    @Test("one period under two transaction IDs redeems its offer once")
    func twoIDs() throws {
        let facts = try ["1", "9"].map { id in
            try Make.transaction(id, 0, 30) {
                $0.webOrderLineItemID = "w"
                $0.offer = Self.offer("p", .promotional, .freeTrial)
            }
        }
        #expect(Self.redemptions(facts).count == 1)
    }

    @Test("trap 37: an offer code that converts later is a plain renewal")
    func codeConverts() throws {
        let code = Self.offer("CODE", .offerCode)
        let facts = [try Self.transaction("1", 0, 30, code), try Make.transaction("2", 30, 60)]
        #expect(subscription(facts, at: .day(31))?.lastPeriod == .regular)
        #expect(subscription(facts, at: .day(31))?.renewals == 1)
        #expect(Self.redemptions(facts).map(\.type) == [.offerCode])
    }

    @Test("trap 38: retention offers of App Store Connect are redemptions of their own type")
    func retention() throws {
        let pending = try Make.renewal(signed: 3) { $0.offer = Self.offer("r", .retention) }
        let facts = [try Make.transaction("1", 0, 30), pending]
        #expect(Self.redemptions(facts).map(\.type.rawValue) == [5])
        #expect(subscription(facts, at: .day(4))?.pendingOffer?.identifier == "r")
    }

    @Test("trap 33: an accepted price increase need not be the customer's act, so nothing else changes with it")
    func acceptedIncrease() throws {
        let purchase = try Make.transaction("1", 0, 30)
        func known(_ increase: PriceIncreaseStatus?, at now: Timestamp) throws -> Expected? {
            let info = try Make.renewal(signed: 1, .off) { $0.priceIncreaseStatus = increase }
            return subscription([purchase, info], at: now).map(Expected.init)
        }
        for now in [Timestamp.day(2), .day(30), .day(60)] {
            var accepted = try known(.accepted, at: now)
            #expect(accepted?.priceIncrease == .accepted)
            accepted?.priceIncrease = nil
            #expect(try known(nil, at: now) == accepted)
        }
    }

    @Test("a price increase is pending or accepted, and absence is no increase")
    func priceIncrease() throws {
        let expected: [(Int64?, Subscription.PriceIncrease?)] = [(nil, nil), (0, .pending), (1, .accepted), (7, nil)]
        for (raw, increase) in expected {
            let info = try Make.renewal(signed: 1) { $0.priceIncreaseStatus = raw.map(PriceIncreaseStatus.init) }
            #expect(subscription([try Make.transaction("1", 0, 30), info], at: .day(2))?.priceIncrease == increase)
        }
    }

    @Test("win-back offers keep the App Store's order")
    func winBack() throws {
        let info = try Make.renewal(signed: 31, .off) { $0.eligibleWinBackOfferIDs = ["b", "a"] }
        #expect(subscription([try Make.transaction("1", 0, 30), info], at: .day(32))?.winBackOffers == ["b", "a"])
    }
}
