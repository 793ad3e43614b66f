import OfferCore
import OfferEligibility
import Testing

@testable import HistoryTestSupport

@Suite("Refunds and revocations")
struct RefundTests {
    private typealias Make = TestFacts

    private static func refunded(
        _ id: String, _ start: Double, _ end: Double, at: Double, signed: Double? = nil,
        _ change: (inout Purchase) throws -> Void = { _ in }
    ) throws -> SubscriberFact {
        try Make.transaction(id, start, end, signed: signed ?? at) {
            $0.revocation = Revocation(date: .day(at), reason: .appIssue)
            try change(&$0)
        }
    }

    @Test("trap 1: the refund of an earlier period takes no access away")
    func earlierPeriod() throws {
        let refund = try Self.refunded("6", 0, 30, at: 35)
        let facts = [
            try Make.transaction("7", 30, 60), refund, try Make.refundRequest(.granted, "6", signed: 35),
            try Make.status(.active, signed: 35),
        ]
        let known = subscription(facts, at: .day(36))
        #expect(known?.status == .active)
        #expect(known?.transactionID.text.description == "7")
        #expect(known?.refunds.map(\.transactionID.text.description) == ["6"])
        #expect(known?.refunds.first?.reason == .appIssue)
    }

    @Test("trap 2: the transaction of a notification need not be the latest, and an unseen one counts in the history")
    func notTheLatest() throws {
        let facts = [try Make.transaction("1", 0, 30), try Make.transaction("3", 60, 90)]
        let late = try Make.transaction("2", 30, 60, signed: 80)
        #expect(subscription(facts + [late], at: .day(81))?.transactionID.text.description == "3")
        #expect(subscription(facts + [late], at: .day(81))?.renewals == 2)
    }

    @Test("trap 5: a revocation has the transaction ID of the purchase and is not taken for a duplicate")
    func sameTransactionID() throws {
        let facts = [try Make.transaction("1", 0, 30), try Self.refunded("1", 0, 30, at: 5)]
        let known = subscription(facts, at: .day(6))
        #expect(known?.status == .revoked)
        #expect(known?.endedAt == .day(5))
        #expect(known?.endedBecause == .refunded)
        #expect(subscription([try Self.refunded("1", 0, 30, at: 35)], at: .day(36))?.endedAt == .day(30))
    }

    @Test("trap 28: a reversed refund comes without revocation fields and restores access")
    func reversed() throws {
        let facts = [try Self.refunded("1", 0, 30, at: 5), try Make.status(.revoked, signed: 5)]
        let reversed = try Make.transaction("1", 0, 30, signed: 7)
        #expect(subscription(facts, at: .day(8))?.status == .revoked)
        #expect(subscription(facts + [reversed], at: .day(8))?.status == .active)
        #expect(subscription([reversed] + facts, at: .day(8))?.refunds == [])
    }

    @Test("trap 29: of two revocation dates the one signed last counts")
    func changedDate() throws {
        let facts = [try Self.refunded("1", 0, 30, at: 6, signed: 9), try Self.refunded("1", 0, 30, at: 5, signed: 7)]
        #expect(subscription(facts, at: .day(10))?.endedAt == .day(6))
    }

    @Test(
        "trap 30: a refund request that switches auto-renew off is visible as such until it is answered or 60 days old")
    func pending() throws {
        let facts = [
            try Make.transaction("1", 0, 365), try Make.refundRequest(.open, "1", signed: 5),
            try Make.renewal(signed: 5, .off),
        ]
        for (now, isPending) in [(Timestamp.day(5), true), (.day(65).before, true), (.day(65), false)] {
            #expect(subscription(facts, at: now)?.refundPending == isPending)
            #expect(SubscriberState(facts, at: now).refundPending == isPending)
        }
        for answer in [RefundRequest.granted, .declined] {
            let answered = facts + [try Make.refundRequest(answer, "1", signed: 6)]
            #expect(subscription(answered, at: .day(7))?.refundPending == false)
        }
        let refunded = facts + [try Self.refunded("1", 0, 365, at: 6)]
        #expect(subscription(refunded, at: .day(7))?.refundPending == false)
        let older = facts + [try Make.refundRequest(.declined, "1", signed: 4)]
        #expect(subscription(older, at: .day(7))?.refundPending == true)
    }

    @Test("trap 31: a prorated refund carries its share, and older data has none")
    func prorated() throws {
        let facts = [
            try Make.transaction("1", 0, 30) {
                $0.revocation = Revocation(date: .day(5), type: .proratedRefund, percentage: 40_000)
            }
        ]
        #expect(subscription(facts, at: .day(6))?.refunds.first?.percentage == 40_000)
        #expect(subscription(facts, at: .day(6))?.status == .revoked)
        #expect(subscription([try Self.refunded("1", 0, 30, at: 5)], at: .day(6))?.refunds.first?.percentage == nil)
    }

    @Test("trap 4: one period under two transaction IDs is one period, one renewal and one refund")
    func twoIDs() throws {
        let restored = try Self.refunded("9", 30, 60, at: 40) { $0.webOrderLineItemID = "w2" }
        let bought = try Self.refunded("2", 30, 60, at: 40)
        let kept = try [("2", 30.0), ("9", 31)].map { id, start in
            try Make.transaction(id, start, 60) { $0.webOrderLineItemID = "w2" }
        }
        let first = try Make.transaction("1", 0, 30)
        #expect(subscription([first] + kept, at: .day(41))?.renewals == 1)
        #expect(subscription([first] + kept, at: .day(41))?.transactionID.text.description == "2")
        #expect(SubscriberState([first, bought, restored], at: .day(41)).refunds.count == 1)
    }

    @Test("a refunded renewal does not count, and does not end the run")
    func refundedRenewal() throws {
        let facts = [
            try Make.transaction("1", 0, 30), try Self.refunded("2", 30, 60, at: 70), try Make.transaction("3", 60, 90),
        ]
        #expect(subscription(facts, at: .day(71))?.renewals == 1)
        #expect(subscription(facts, at: .day(71))?.subscribedSince == .day(0))
    }

    @Test("a purchase after a refund begins a run of its own")
    func boughtAgain() throws {
        let again = try Make.transaction("3", 20, 50) { $0.reason = .purchase }
        let facts = [try Make.transaction("1", -30, 0), try Self.refunded("2", 0, 30, at: 10), again]
        #expect(subscription(facts, at: .day(21))?.subscribedSince == .day(20))
    }

    @Test("traps 32 and 39: the end of family sharing revokes the member's subscription alone and is no refund")
    func family() throws {
        let shared = try Self.refunded("5", 0, 30, at: 5) { $0.ownership = .familyShared }
        let payer = try Make.transaction("1", 0, 30)
        var facts = [payer]
        facts.append(
            try Make.fact(shared.value, "5", of: "5", signed: .day(5)))
        let state = SubscriberState(facts, at: .day(6))
        #expect(state["1"]?.status == .active)
        #expect(state["5"]?.status == .revoked)
        #expect(state["5"]?.endedBecause == .other)
        #expect(state.refunds.isEmpty)
    }

    @Test("a status of revoked counts until a newer copy of the transaction comes without a revocation")
    func revokedStatus() throws {
        let facts = [try Make.transaction("1", 0, 30), try Make.status(.revoked, signed: 5)]
        #expect(subscription(facts, at: .day(6))?.status == .revoked)
        #expect(subscription(facts + [try Make.transaction("1", 0, 30, signed: 5)], at: .day(6))?.status == .revoked)
        #expect(subscription(facts + [try Make.transaction("1", 0, 30, signed: 6)], at: .day(6))?.status == .active)
        let again = try Make.transaction("2", 8, 38) { $0.reason = .purchase }
        #expect(subscription(facts + [again], at: .day(9))?.status == .active)
    }
}
