import OfferCore
import Testing

@testable import HistoryTestSupport

@Suite("What a customer ever did")
struct HistoryTests {
    private typealias Make = TestFacts

    private static let trial: @Sendable (inout Purchase) -> Void = {
        $0.offer = AppliedOffer(type: .introductory, discountType: .freeTrial)
    }

    @Test("a yes needs one witness")
    func yes() throws {
        let state = SubscriberState([try Make.transaction("5", 0, 30, Self.trial)], at: .day(1))
        #expect(state.history == .partial)
        #expect(state.everSubscribed == true)
        #expect(state.usedIntroductoryOffer(inGroup: "g") == true)
        #expect(state.everRefunded == nil)
    }

    @Test("a no needs the whole history")
    func no() throws {
        let middle = [try Make.transaction("5", 120, 150)]
        #expect(SubscriberState(middle, at: .day(121)).usedIntroductoryOffer(inGroup: "g") == nil)
        let gap = middle + [try Make.transaction("1", 0, 30)]
        #expect(
            SubscriberState(gap, at: .day(121)).usedIntroductoryOffer(inGroup: "g") == nil, "three periods are missing")
        let whole = try gap + (1...3).map { try Make.transaction("\($0 + 1)", Double($0) * 30, Double($0 + 1) * 30) }
        #expect(SubscriberState(whole, at: .day(121)).history == .whole)
        #expect(SubscriberState(whole, at: .day(121)).usedIntroductoryOffer(inGroup: "g") == false)
        #expect(SubscriberState(middle, given: .whole, at: .day(121)).usedIntroductoryOffer(inGroup: "g") == false)
        let other = whole + [try Make.transaction("8", of: "7", 0, 30) { $0.subscriptionGroupID = "h" }]
        #expect(SubscriberState(other, at: .day(121)).history == .partial)
    }

    @Test("a history is whole to a period that runs, or to an end that the App Store has stated after it")
    func end() throws {
        let first = try Make.transaction("1", 0, 30)
        let off = try Make.renewal(signed: 5, .off)
        func history(_ facts: [SubscriberFact], at day: Double = 100) -> HistoryExtent {
            SubscriberState([first] + facts, at: .day(day)).history
        }
        #expect(history([off], at: 29) == .whole)
        #expect(history([off]) == .partial, "the renewal info is from before the end: what followed may be hidden")
        #expect(history([try Make.renewal(signed: 30, .off)]) == .whole)
        #expect(history([try Make.renewal(signed: 30, .on)]) == .partial)
        #expect(history([try Make.renewal(signed: 30) { $0.expirationIntent = .cancelled }]) == .whole)
        #expect(history([try Make.renewal(signed: 30) { $0.isInBillingRetryPeriod = true }]) == .whole)
        #expect(
            history([
                try Make.renewal(signed: 95, .off) {
                    $0.expirationIntent = .cancelled
                    $0.renewalDate = .day(90)
                }
            ]) == .partial, "it tells of a later period")
        #expect(history([try Make.status(.expired, signed: 30)]) == .whole)
        #expect(history([try Make.status(.expired, signed: 29)]) == .partial)
        #expect(history([try Make.status(.active, signed: 31)]) == .partial)
        #expect(history([try Make.expired(.voluntary, signed: 30)]) == .whole)
    }

    @Test(
        "a renewal may come late, but not so late that another one fits in; a purchase after the end or before it may follow others"
    )
    func gaps() throws {
        let first = try Make.transaction("1", 0, 30)
        for (start, isRenewal, expected) in [
            (30, true, .whole), (30, false, .whole), (29, true, .whole), (52, true, .whole), (53, true, .partial),
            (60, true, .partial), (31, false, .partial), (29, false, .partial),
        ] as [(Double, Bool, HistoryExtent)] {
            let next = try Make.transaction("2", start, start + 30) { $0.reason = isRenewal ? .renewal : .purchase }
            #expect(SubscriberState([first, next], at: .day(start + 1)).history == expected, "\(start) \(isRenewal)")
        }
    }

    @Test("nothing is known of an unknown customer")
    func unknownCustomer() throws {
        let state = SubscriberState([], at: .day(0))
        #expect(state.everSubscribed == nil)
        #expect(state.owns(try ProductID("p")) == nil)
        #expect(SubscriberState([], given: .whole, at: .day(0)).everSubscribed == false)
    }

    @Test("a receipt is a whole history, and the catalogue or a sibling names the group")
    func receipt() throws {
        guard case .transaction(var purchase) = try Make.transaction("5", 0, 30, Self.trial).value else { return }
        purchase.subscriptionGroupID = nil
        let receipt = [try Make.fact(.receiptTransaction(purchase), "5", of: "1", signed: .day(5))]
        let unnamed = SubscriberState(receipt, at: .day(6))
        #expect(unnamed.history == .whole)
        #expect(unnamed.usedIntroductoryOffer(inGroup: "g") == nil)
        let named = SubscriberState(receipt, groups: [try ProductID("monthly"): "g"], at: .day(6))
        #expect(named.usedIntroductoryOffer(inGroup: "g") == true)
        #expect(named.usedIntroductoryOffer(inGroup: "h") == false)
        let sibling = SubscriberState(receipt + [try Make.transaction("6", 30, 60)], at: .day(31))
        #expect(sibling.usedIntroductoryOffer(inGroup: "g") == true)
        #expect(sibling["1"]?.subscriptionGroupID == "g")
    }

    @Test("a customer owns a non-consumable until it is refunded")
    func nonConsumable() throws {
        var purchase = Purchase(productID: try ProductID("lifetime"), purchaseDate: .day(0))
        purchase.type = .nonConsumable
        let bought = try Make.fact(.transaction(purchase), "1", of: "1", signed: .day(0))
        purchase.revocation = Revocation(date: .day(2))
        let refunded = try Make.fact(.transaction(purchase), "1", of: "1", signed: .day(2))
        #expect(SubscriberState([bought], at: .day(1)).owns(try ProductID("lifetime")) == true)
        let state = SubscriberState([bought, refunded], at: .day(3))
        #expect(state.owns(try ProductID("lifetime")) == nil)
        #expect(state.refunds.map(\.productID.text.description) == ["lifetime"])
        #expect(state.subscriptions.isEmpty)
    }

    @Test("trap 40: a family member is active, pays for no renewals, and never subscribed")
    func familyMember() throws {
        let facts = try [("5", 0.0), ("6", 30)].map { id, start in
            try Make.transaction(id, of: "5", start, start + 30) { $0.ownership = .familyShared }
        }
        let state = SubscriberState(facts, at: .day(31))
        #expect(state["5"]?.status == .active)
        #expect(state["5"]?.ownership == .familyShared)
        #expect(state["5"]?.renewals == 0)
        #expect(state.everSubscribed == false)
        let own = try Make.transaction("7", of: "7", 40, 70)
        #expect(SubscriberState(facts + [own], at: .day(41)).subscriptions.map(\.status) == [.active, .active])
    }

    @Test("trap 6: one customer may have several subscriptions in several groups, each with its own facts")
    func severalSubscriptions() throws {
        let other = try Make.transaction("9", of: "9", 0, 30) { $0.subscriptionGroupID = "h" }
        let facts = [
            try Make.transaction("1", 0, 30), other, try Make.renewal(of: "9", signed: 1, .off),
            try Make.renewal(signed: 1),
        ]
        let state = SubscriberState(facts, at: .day(2))
        #expect(state.subscriptions.map(\.autoRenews) == [true, false])
        #expect(SubscriberState([try Make.renewal(signed: 1)], at: .day(2)).subscriptions.isEmpty)
    }
}
