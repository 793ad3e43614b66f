import OfferCore
import OfferEligibility
import Testing

@testable import HistoryTestSupport

@Suite("Seats of groups and organisations")
struct SeatTests {
    /// A transaction of the period from day 0 to day 30, with an offer. Seats that are added later end on the same day.
    private static func seats(
        _ id: String, at start: Double, signed: Double? = nil, reason: AdditionalTransactionReason? = .seatAddition,
        _ change: (inout Purchase) -> Void = { _ in }
    ) throws -> SubscriberFact {
        try TestFacts.transaction(id, start, 30, signed: signed) {
            $0.reason = .purchase
            $0.quantity = 5
            $0.additionalReason = reason
            $0.offer = AppliedOffer(type: .promotional, identifier: "half", discountType: .payUpFront)
            change(&$0)
        }
    }

    private static func refunded(_ id: String, at start: Double, on day: Double) throws -> SubscriberFact {
        try seats(id, at: start, signed: day) { $0.revocation = Revocation(date: .day(day), type: .fullRefund) }
    }

    @Test(
        "added seats belong to the period: no renewal, and one redemption",
        arguments: [nil, AdditionalTransactionReason.seatAddition])
    func added(firstReason: AdditionalTransactionReason?) throws {
        let facts = [
            try Self.seats("1", at: 0, reason: firstReason), try Self.seats("2", at: 10), try Self.seats("3", at: 20),
        ]
        for order in [facts, facts.reversed()] {
            let state = SubscriberState(order, at: .day(25))
            #expect(state["1"]?.transactionID.text.description == "1")
            #expect(state["1"]?.purchasedAt == .day(0))
            #expect(state["1"]?.renewals == 0)
            #expect(state.redemptions.count == 1)
            #expect(Redemption.promotional(in: order).map(\.at) == [.day(0)])
        }
        let renewed = facts + [try TestFacts.transaction("4", 30, 60) { $0.additionalReason = .seatAddition }]
        #expect(subscription(renewed, at: .day(40))?.renewals == 1)
    }

    @Test("a period is revoked only if all of its transactions are; each refund is known")
    func revoked() throws {
        let one = [try Self.seats("1", at: 0), try Self.refunded("2", at: 10, on: 20)]
        #expect(subscription(one, at: .day(25))?.status == .active)
        #expect(SubscriberState(one, at: .day(25)).refunds.map(\.transactionID.text.description) == ["2"])
        let both = [try Self.refunded("1", at: 0, on: 22), try Self.refunded("2", at: 10, on: 20)]
        for order in [both, both.reversed()] {
            let state = SubscriberState(order, at: .day(25))
            #expect(state["1"]?.status == .revoked)
            #expect(state["1"]?.endedAt == .day(22))
            #expect(state["1"]?.endedBecause == .refunded)
            #expect(state.refunds.count == 2)
        }
    }

    @Test("added seats with an offer that the period does not have are a redemption", arguments: [nil, "other"])
    func addedOffer(ofPeriod identifier: String?) throws {
        let first = try Self.seats("1", at: 0) { purchase in
            purchase.offer = identifier.map { AppliedOffer(type: .promotional, identifier: $0) }
        }
        let redemptions = Redemption.promotional(in: [first, try Self.seats("2", at: 10)])
        #expect(redemptions.last?.offerID == "half" && redemptions.last?.at == .day(10))
        #expect(redemptions.count == (identifier == nil ? 1 : 2))
        let plain = try Self.seats("2", at: 10) { $0.offer = nil }
        #expect(Redemption.promotional(in: [try Self.seats("1", at: 0), plain]).map(\.at) == [.day(0)])
    }

    @Test("a purchase without the reason, or of another product, is a period of its own")
    func others() throws {
        let upgrade = [try Self.seats("1", at: 0, reason: nil), try Self.seats("2", at: 10, reason: nil)]
        #expect(subscription(upgrade, at: .day(25))?.transactionID.text.description == "2")
        let product = [try Self.seats("1", at: 0), try Self.otherProduct()]
        #expect(subscription(product, at: .day(25))?.transactionID.text.description == "2")
    }

    private static func otherProduct() throws -> SubscriberFact {
        var purchase = Purchase(productID: try ProductID("yearly"), purchaseDate: .day(10))
        purchase.type = .autoRenewableSubscription
        purchase.subscriptionGroupID = "g"
        purchase.expiresDate = .day(30)
        purchase.additionalReason = .seatAddition
        return try TestFacts.fact(.transaction(purchase), "2", of: "1", signed: .day(10))
    }
}
