import OfferCore
import OfferEligibility
import Testing

@testable import HistoryTestSupport

@Suite("Upgrades and downgrades")
struct PlanChangeTests {
    private typealias Make = TestFacts

    private static func upgrade(_ id: String, of original: String = "1", _ start: Double, _ end: Double) throws
        -> SubscriberFact
    {
        try Make.transaction(id, of: original, start, end) {
            $0.reason = .purchase
            $0.price = 99
        }
    }

    @Test("trap 24: an upgraded transaction that is never sent again is not current, although it ends later")
    func upgrade() throws {
        let facts = [try Make.transaction("1", 0, 365), try Self.upgrade("2", 10, 17)]
        let upgraded = subscription(facts, at: .day(11))
        #expect(upgraded?.transactionID.text.description == "2")
        #expect(upgraded?.expiresAt == .day(17))
        #expect(upgraded?.subscribedSince == .day(0))
        #expect(subscription(facts, at: .day(18))?.status == .expired)
        #expect(subscription(facts, at: .day(9))?.transactionID.text.description == "1")
    }

    @Test("an upgrade may come under another original transaction ID of the group")
    func otherOriginal() throws {
        let facts = [try Make.transaction("1", 0, 365), try Self.upgrade("2", of: "2", 10, 40)]
        let state = SubscriberState(facts, at: .day(11))
        #expect(state["1"]?.status == .expired)
        #expect(state["1"]?.endedAt == .day(10))
        #expect(state["1"]?.endedBecause == .other)
        #expect(state["2"]?.status == .active)
        #expect(SubscriberState(facts, at: Timestamp.day(10).before)["1"]?.status == .active)
    }

    @Test("subscriptions of two groups do not replace each other")
    func twoGroups() throws {
        let other = try Make.transaction("2", of: "2", 10, 40) { $0.subscriptionGroupID = "h" }
        let state = SubscriberState([try Make.transaction("1", 0, 365), other], at: .day(11))
        #expect(state.subscriptions.map(\.status) == [.active, .active])
        #expect(state.subscriptions.map(\.subscriptionGroupID) == ["g", "h"])
    }

    @Test("subscriptions of two Apple Accounts do not replace each other")
    func twoAppleAccounts() throws {
        let one = try Make.transaction("1", 0, 365) { $0.appTransactionID = try TransactionID("71") }
        let other = try Make.transaction("2", of: "2", 10, 40) { $0.appTransactionID = try TransactionID("72") }
        let state = SubscriberState([one, other], at: .day(11))
        #expect(state.subscriptions.map(\.status) == [.active, .active])
        let old = try Make.transaction("2", of: "2", 10, 40)
        #expect(SubscriberState([one, old], at: .day(11))["1"]?.status == .expired)
    }

    @Test("an upgraded-away renewal does not count, whether or not the App Store says so")
    func upgradedRenewal() throws {
        let first = [try Make.transaction("1", 0, 30), try Make.transaction("2", 30, 60)]
        #expect(subscription(first + [try Self.upgrade("3", 40, 70)], at: .day(39))?.renewals == 1)
        #expect(subscription(first + [try Self.upgrade("3", 40, 70)], at: .day(41))?.renewals == 0)
        let said = try Make.transaction("2", 30, 60, signed: 41) { $0.isUpgraded = true }
        #expect(subscription(first + [said], at: .day(42))?.renewals == 0)
        #expect(subscription(first + [said], at: .day(42))?.settled == false)
    }

    @Test("trap 25: a downgrade turns auto-renew on without a notification of its own")
    func downgrade() throws {
        let facts = [
            try Make.transaction("1", 0, 30), try Make.renewal(signed: 5, .off),
            try Make.renewal(signed: 6) { $0.autoRenewProductID = try ProductID("weekly") },
        ]
        #expect(subscription(facts, at: .day(7))?.autoRenews == true)
        #expect(subscription(facts, at: .day(7))?.autoRenewProductID?.text.description == "weekly")
    }

    @Test("trap 26: a downgrade is a promise: the product changes at the renewal, and a revert takes the promise back")
    func promise() throws {
        let facts = [
            try Make.transaction("1", 0, 30),
            try Make.renewal(signed: 6) { $0.autoRenewProductID = try ProductID("weekly") },
        ]
        #expect(subscription(facts, at: .day(7))?.productID.text.description == "monthly")
        let reverted = facts + [try Make.renewal(signed: 8)]
        #expect(subscription(reverted, at: .day(9))?.autoRenewProductID?.text.description == "monthly")
        let renewed = try Make.transaction("2", 30, 37) { purchase in
            var other = Purchase(productID: try ProductID("weekly"), purchaseDate: purchase.purchaseDate)
            (other.type, other.expiresDate, other.reason) = (purchase.type, purchase.expiresDate, .renewal)
            purchase = other
        }
        #expect(subscription(facts + [renewed], at: .day(31))?.productID.text.description == "weekly")
        #expect(subscription(facts + [renewed], at: .day(31))?.renewals == 1)
    }

    @Test("trap 27: a crossgrade acts as its dates say: at once, or at the next renewal")
    func crossgrade() throws {
        let atOnce = [try Make.transaction("1", 0, 30), try Self.upgrade("2", 10, 40)]
        #expect(subscription(atOnce, at: .day(11))?.transactionID.text.description == "2")
        let later = [try Make.transaction("1", 0, 30), try Make.transaction("2", 30, 395, signed: 10)]
        #expect(subscription(later, at: .day(11))?.transactionID.text.description == "1")
        #expect(subscription(later, at: .day(31))?.transactionID.text.description == "2")
    }

    @Test("trap 3: a resubscriber keeps the original transaction ID and begins another run")
    func resubscription() throws {
        let again = try Make.transaction("3", 100, 130) { $0.reason = .purchase }
        let renewed = try Make.transaction("4", 130, 160)
        let facts = [try Make.transaction("1", 0, 30), try Make.transaction("2", 30, 60), again, renewed]
        let known = subscription(facts, at: .day(131))
        #expect(known?.originalTransactionID.text.description == "1")
        #expect(known?.subscribedSince == .day(100))
        #expect(known?.renewals == 1)
        #expect(known?.isRunWhole == true)
        #expect(known?.settled == true)
    }

    @Test("a renewal info from before a resubscription says nothing about it")
    func oldRenewalInfo() throws {
        let again = try Make.transaction("2", 100, 130) { $0.reason = .purchase }
        let old = try Make.renewal(signed: 31, .off) { $0.renewalDate = .day(365) }
        let known = subscription([try Make.transaction("1", 0, 30), again, old], at: .day(101))
        #expect(known?.autoRenews == nil)
        #expect(known?.winBackOffers == [])
    }

    @Test("an early renewal info counts for a renewal only if it tells the end of that renewal")
    func earlyRenewalInfo() throws {
        let facts = [try Make.transaction("1", 0, 30), try Make.transaction("2", 30, 60)]
        for (date, autoRenews) in [(Timestamp.day(60), true), (.day(30), nil)] as [(Timestamp, Bool?)] {
            let info = try Make.renewal(signed: 29) { $0.renewalDate = date }
            #expect(subscription(facts + [info], at: .day(31))?.autoRenews == autoRenews)
        }
    }

    @Test("a run that is known from its middle says so")
    func middle() throws {
        let known = subscription([try Make.transaction("5", 120, 150)], at: .day(121))
        #expect(known?.isRunWhole == false)
        #expect(known?.renewals == 1)
        let gap = [try Make.transaction("1", 0, 30), try Make.transaction("5", 120, 150)]
        #expect(subscription(gap, at: .day(121))?.subscribedSince == .day(120))
    }

    @Test("free renewals are not paid ones")
    func freeRenewal() throws {
        let first = try Make.transaction("1", 0, 30)
        let free = try Make.transaction("2", 30, 60) { $0.price = 0 }
        let unpriced = try Make.transaction("2", 30, 60) { $0.price = nil }
        let trial = try Make.transaction("2", 30, 60) {
            $0.price = nil
            $0.offer = AppliedOffer(type: .promotional, identifier: "p", discountType: .freeTrial)
        }
        for (renewal, count) in [(free, 0), (unpriced, 1), (trial, 0)] {
            #expect(subscription([first, renewal], at: .day(31))?.renewals == count)
        }
    }

    @Test("receipts give no reason: what begins as the last period ends is a renewal")
    func receiptRenewals() throws {
        let facts = try [("1", 0.0, 30.0), ("2", 30, 60), ("3", 90, 120)].map { id, start, end in
            var purchase = Purchase(productID: try ProductID("monthly"), purchaseDate: .day(start))
            purchase.expiresDate = .day(end)
            return try Make.fact(.receiptTransaction(purchase), id, of: "1", signed: .day(100))
        }
        #expect(subscription(facts, at: .day(59))?.renewals == 1)
        #expect(subscription(facts, at: .day(91))?.renewals == 0)
        #expect(subscription(facts, at: .day(91))?.subscribedSince == .day(90))
    }
}
