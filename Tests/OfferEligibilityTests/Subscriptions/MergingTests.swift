import OfferCore
import OfferEligibility
import Testing

@testable import HistoryTestSupport

@Suite("Merging facts")
struct MergingTests {
    private typealias Make = TestFacts

    @Test("trap 10: a notification that is six days late does not roll the state back")
    func sixDaysLate() throws {
        let late = [try Make.transaction("1", 0, 30), try Make.renewal(signed: 0), try Make.status(.active, signed: 0)]
        let newer = [try Make.renewal(signed: 6, .off), try Make.status(.active, signed: 6)]
        #expect(subscription(newer + late, at: .day(6))?.autoRenews == false)
        #expect(SubscriberFacts(newer + late) == SubscriberFacts(late + newer))
    }

    @Test(
        "trap 11: an older notification is merged fact by fact: its unseen transaction counts, its old renewal info does not"
    )
    func factByFact() throws {
        var facts = SubscriberFacts([try Make.transaction("2", 30, 60), try Make.renewal(signed: 40, .off)])
        let refunded = try Make.transaction("1", 0, 30, signed: 35) { $0.revocation = Revocation(date: .day(35)) }
        let changes = [facts.merge(refunded), facts.merge(try Make.renewal(signed: 35))]
        #expect(changes == [true, false])
        let state = SubscriberState(of: facts, environment: .production, at: .day(41))
        #expect(state.refunds.map(\.at) == [.day(35)])
        #expect(state["1"]?.status == .active)
        #expect(state["1"]?.autoRenews == false)
    }

    @Test("trap 12: a replayed history changes nothing")
    func replay() throws {
        let history = try (0..<6).flatMap { place in
            let start = Double(place) * 30
            return [
                try Make.transaction("\(place + 1)", start, start + 30),
                try Make.renewal(signed: start, place == 5 ? .off : .on),
            ]
        }
        var facts = SubscriberFacts(history)
        for fact in history {
            let changed = facts.merge(fact)
            #expect(!changed)
        }
        #expect(facts == SubscriberFacts(history.reversed() + history))
        #expect(subscription(Array(facts), at: .day(151))?.autoRenews == false)
    }

    @Test("trap 16: of two copies with one signedDate, the greater digest wins in either order")
    func ties() throws {
        let one = try Make.renewal(signed: 1)
        let other = try Make.renewal(signed: 1, .off)
        let winner = one.digest.lexicographicallyPrecedes(other.digest) ? other : one
        #expect(Array(SubscriberFacts([one, other])) == [winner])
        #expect(Array(SubscriberFacts([other, one])) == [winner])
        #expect(!one.replaces(one))
    }

    @Test("of two copies of one JWS, the one that was read with more members wins in either order")
    func moreMembers() throws {
        let full = try Make.transaction("1", 0, 30) { $0.storefront = "USA" }
        guard case .transaction(var purchase) = full.value else { return }
        purchase.storefront = nil
        func copy(_ purchase: Purchase) -> SubscriberFact {
            SubscriberFact(
                .transaction(purchase), transactionID: full.key.id, originalTransactionID: full.key.id,
                signedDate: full.signedDate, digest: full.digest)
        }
        let less = copy(purchase)
        #expect(Array(SubscriberFacts([less, full])) == [full])
        #expect(Array(SubscriberFacts([full, less])) == [full])
        purchase.storefront = "DEU"
        #expect(SubscriberFacts([copy(purchase), full]) == SubscriberFacts([full, copy(purchase)]))
    }

    @Test("trap 16: a copy signed one millisecond later wins, whatever its digest")
    func laterWins() throws {
        for status in [AutoRenewStatus.on, .off] {
            let old = try Make.renewal(signed: 1, status)
            let later = SubscriberFact(
                try Make.renewal(signed: 1).value, transactionID: old.key.id, originalTransactionID: old.key.id,
                signedDate: Timestamp.day(1).after, digest: Array(repeating: 0, count: 32))
            #expect(Array(SubscriberFacts([later, old])) == [later])
            #expect(Array(SubscriberFacts([old, later])) == [later])
        }
    }

    @Test("trap 17: a device copy with a later signedDate does not displace the status and the renewal info")
    func deviceCopy() throws {
        let grace = try Make.renewal(signed: 30) {
            $0.isInBillingRetryPeriod = true
            $0.gracePeriodExpiresDate = .day(46)
        }
        let notification = [try Make.transaction("1", 0, 30), grace, try Make.status(.billingGracePeriod, signed: 30)]
        let copy = try Make.transaction("1", 0, 30, signed: 31)
        #expect(subscription(notification + [copy], at: .day(32))?.status == .billingGracePeriod)
    }

    @Test("a receipt fills in what no JWS reports, and never replaces one")
    func receipt() throws {
        guard case .transaction(var purchase) = try Make.transaction("1", 0, 30).value else { return }
        (purchase.subscriptionGroupID, purchase.reason, purchase.ownership) = (nil, nil, nil)
        let receipt = try Make.fact(.receiptTransaction(purchase), "1", of: "1", signed: .day(5))
        let jws = try Make.transaction("1", 0, 30)
        #expect(SubscriberFacts([jws, receipt]).count == 2)
        #expect(subscription([jws, receipt], at: .day(6))?.subscriptionGroupID == "g")
        purchase.revocation = Revocation(date: .day(6))
        let later = try Make.fact(.receiptTransaction(purchase), "1", of: "1", signed: .day(7))
        #expect(subscription([jws, later], at: .day(8))?.status == .revoked)
        #expect(subscription([try Make.transaction("1", 0, 30, signed: 8), later], at: .day(8))?.status == .active)
    }
}
