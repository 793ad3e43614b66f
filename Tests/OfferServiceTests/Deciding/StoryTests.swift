import OfferEligibility
import OfferHTTP
import OfferService
import StoreTestSupport
import SubscriberStore
import TestSupport
import Testing

@testable import AppStoreTestSupport
@testable import SubscriberSync

/// The six situations of the talk "Subscription Offers Best Practices" (WWDC19-305), and what else happens to customers.
@Suite("Stories of customers")
struct StoryTests {
    @Test("win-back: a trial that was cancelled, and the offer that brings the customer back")
    func winBack() async throws {
        let story = try Story()
        try await story.on(0) { try $0.subscribe(at: $1, trial: true) }
        #expect(try await story.ask(on: 1).refused["back"] == ["ended_because", "subscription_status"])
        try await story.on(3) { try $0.setAutoRenew(false, at: $1) }
        try await story.on(30) { try $0.expire(at: $1) }
        let decision = try await story.ask(on: 40)
        #expect(decision.signed == ["back"], "\(decision.response.text)")
        try story.requireValid(decision, "back", on: 40.5)
        #expect(try await story.ask(on: 40.6).refused["back"] == ["outstanding"], "one signature at a time")
        try await story.on(40.7) { try $0.subscribe(at: $1, redeeming: "back") }
        #expect(try await story.states() == [.redeemed], "under a cap, there is one form")
        #expect(try await story.redemptions() == ["back": true])
        // The customer leaves again. The cap of one in a year holds.
        try await story.on(50) { try $0.setAutoRenew(false, at: $1) }
        try await story.on(70.7) { try $0.expire(at: $1) }
        #expect(try await story.ask(on: 80).refused["back"] == ["customer_cap"])
        #expect(try await story.ask(on: 40.7 + 365).eligible == ["back"])
    }

    @Test("trap 36: an OFFER_REDEEMED closes the authorisation, long before a transaction shows the offer")
    func offerRedeemed() async throws {
        let story = try Story()
        try await story.on(0) { try $0.subscribe(at: $1) }
        try await story.on(5) { try $0.setAutoRenew(false, at: $1) }
        #expect(try await story.ask(on: 6).signed == ["keep"])
        #expect(try await story.states() == [.outstanding])
        try await story.on(6.1) { try $0.redeem("keep", at: $1) }
        let stored = try await story.service.store.payloads(after: nil, limit: 9).map(\.notification.type)
        #expect(stored.last == "OFFER_REDEEMED")
        #expect(try await story.states() == [.redeemed])
        #expect(try await story.redemptions() == ["keep": true])
    }

    @Test("retention: auto-renew is off, and the offer is redeemed for the next period")
    func retention() async throws {
        let story = try Story()
        try await story.on(0) { try $0.subscribe(at: $1) }
        try await story.on(5) { try $0.setAutoRenew(false, at: $1) }
        let decision = try await story.ask(on: 6)
        #expect(decision.signed == ["keep"])
        try story.requireValid(decision, "keep", on: 6.1)
        try await story.on(6.1) { try $0.redeem("keep", at: $1) }
        #expect(try await story.states() == [.redeemed])
        #expect(try await story.ask(on: 7).refused["keep"] == ["auto_renew", "pending_offer"])
        #expect(try await story.ask(on: 7).refused["back"]?.contains("other_offer_pending") == true)
        // The offer shows in the renewal info first and in a transaction later: one redemption.
        try await story.on(30) { try $0.renew(at: $1) }
        #expect(try await story.states() == [.redeemed])
        #expect(try await story.redemptions() == ["keep": true])
    }

    @Test("upgrade: a downgrade is scheduled, and then reverted")
    func upgrade() async throws {
        let story = try Story()
        try await story.on(0) { try $0.subscribe(at: $1) }
        #expect(try await story.ask(on: 1).eligible.isEmpty)
        try await story.on(5) { try $0.choose("basic", at: $1) }
        let decision = try await story.ask(on: 6)
        #expect(decision.signed == ["up"])
        try story.requireValid(decision, "up", on: 6)
        try await story.on(6.5) { try $0.redeem("up", at: $1) }
        #expect(try await story.states() == [.redeemed, .outstanding], "without a cap, the other form is left over")
        #expect(try await story.redemptions() == ["up": true])
        try await story.on(7) { try $0.choose("monthly", at: $1) }
        #expect(try await story.ask(on: 8).eligible.isEmpty)
    }

    @Test("customer service: after an outage, the team sets careTicket")
    func customerService() async throws {
        let story = try Story()
        try await story.on(0) { try $0.subscribe(at: $1) }
        #expect(try await story.ask(on: 1).refused["sorry"] == ["fact"])
        await story.setFact("careTicket", #""4711""#)
        let decision = try await story.ask(on: 2)
        #expect(decision.signed == ["sorry"])
        try story.requireValid(decision, "sorry", on: 2)
        try await story.on(2.1) { try $0.redeem("sorry", at: $1) }
        #expect(try await story.states().first == .redeemed)
        try await story.on(30) { try $0.renew(at: $1) }
        #expect(try await story.ask(on: 31).refused["sorry"] == ["customer_cap"], "once per customer")
        await story.setFact("careTicket", "null")
        #expect(try await story.ask(on: 32).refused["sorry"] == ["fact"])
    }

    @Test("loyalty: the eleventh renewal counts, and a refunded one does not")
    func loyalty() async throws {
        let story = try Story()
        try await story.on(0) { try $0.subscribe(at: $1) }
        for renewal in 1...10 { try await story.on(Double(renewal) * 30) { try $0.renew(at: $1) } }
        #expect(try await story.ask(on: 301).refused["loyal"] == ["renewals"])
        try await story.on(330) { try $0.renew(at: $1) }
        #expect(try await story.ask(on: 331, sign: "false").eligible == ["loyal"])
        let eleventh = try await story.ask(on: 331)
        try story.requireValid(eleventh, "loyal", on: 331)
        try await story.on(331.5) { try $0.redeem("loyal", at: $1) }
        #expect(try await story.states() == [.redeemed, .outstanding])
        #expect(try await story.redemptions() == ["loyal": true])
        #expect(try await story.ask(on: 331.7).refused["loyal"] == ["pending_offer"])
        try await story.on(332) { try $0.refund(4, at: $1) }
        let decision = try await story.ask(on: 333)
        #expect(decision.refused["loyal"]?.contains("renewals") == true, "ten are paid; the subscription goes on")
        #expect(decision.response.text.contains(#""status":"active""#))
    }

    @Test("save: the team expects the customer to leave")
    func save() async throws {
        let story = try Story()
        try await story.on(0) { try $0.subscribe(at: $1) }
        #expect(try await story.ask(on: 1).refused["stay"] == ["unknown"], "nobody has said anything of churnRisk")
        await story.setFact("churnRisk", #""low""#)
        #expect(try await story.ask(on: 1).refused["stay"] == ["fact"])
        await story.setFact("churnRisk", #""high""#)
        let decision = try await story.ask(on: 2)
        #expect(decision.signed == ["stay"])
        try story.requireValid(decision, "stay", on: 2)
        try await story.on(2.5) { try $0.redeem("stay", at: $1) }
        #expect(try await story.states().first == .redeemed)
    }

    @Test("a refund ends access, and is a reason to win back")
    func refunded() async throws {
        let story = try Story()
        try await story.on(0) { try $0.subscribe(at: $1) }
        try await story.on(4) { try $0.refund(at: $1) }
        let decision = try await story.ask(on: 5)
        #expect(decision.signed == ["back"], "\(decision.response.text)")
        try story.requireValid(decision, "back", on: 5)
        try await story.on(5.5) { try $0.subscribe(at: $1, redeeming: "back") }
        #expect(try await story.states() == [.redeemed])
        #expect(try await story.redemptions() == ["back": true])
    }

    @Test("lapsed by billing: no discount while the payment fails, and none afterwards")
    func lapsedByBilling() async throws {
        let story = try Story()
        try await story.on(0) { try $0.subscribe(at: $1) }
        try await story.on(30) { try $0.failToPay(at: $1) }
        let retrying = try await story.ask(on: 31)
        #expect(retrying.eligible.isEmpty && retrying.refused["keep"]?.contains("billing_retry") == true)
        try await story.on(90) { try $0.expire(at: $1) }
        let decision = try await story.ask(on: 91)
        #expect(decision.eligible.isEmpty && decision.refused["back"] == ["ended_because"])
    }

    @Test("trap 40: a family member gets no offer, whatever the rule says")
    func family() async throws {
        let story = try Story()
        try await story.on(0) { try $0.share(at: $1) }
        try await story.on(5) { try $0.setAutoRenew(false, at: $1) }
        let decision = try await story.ask(on: 6)
        #expect(decision.eligible.isEmpty)
        for (offer, codes) in decision.refused { #expect(codes.contains("family_shared"), "\(offer)") }
    }

    @Test("an anonymous customer redeems, signs up, and is the same customer")
    func signsUp() async throws {
        let story = try Story(isAnonymous: true)
        try await story.on(0) { try $0.subscribe(at: $1) }
        try await story.on(5) { try $0.setAutoRenew(false, at: $1) }
        #expect(try await story.ask(on: 6).refused["keep"] == ["unknown"], "without proofs, nobody knows who it is")
        let decision = try await story.ask(on: 6, hasProofs: true)
        #expect(decision.signed == ["keep"])
        try story.requireValid(decision, "keep", on: 6)
        try await story.on(6.5) { try $0.redeem("keep", at: $1) }
        #expect(try await story.states() == [.redeemed])
        // The customer signs up: the backend links the subscription to the account.
        let original = #""originalTransactionID":"\#(story.customer.originalTransactionID)","environment":"Production""#
        #expect(await story.service.link("\(original),\(StoreService.token(7))").status == 204)
        try await story.on(30) { try $0.renew(at: $1) }
        try await story.on(35) { try $0.setAutoRenew(false, at: $1) }
        story.service.setDay(36)
        let later = try await story.service.decide(StoreService.token(7))
        #expect(later.refused["keep"] == ["customer_cap"], "the redemption moves along: \(later.response.text)")
    }

    @Test("a key is stolen: the alarm names the redemption within one notification, and ends when it is acknowledged")
    func stolenKey() async throws {
        let story = try Story()
        story.service.setDay(0)
        let watch = LedgerAlarm(story.service)
        await watch.check()
        #expect(watch.alarms.isEmpty)
        try await story.on(0) { try $0.subscribe(at: $1) }
        try await story.on(5) { try $0.setAutoRenew(false, at: $1) }
        // Somebody else signs, and the customer redeems.
        try await story.on(6) { try $0.redeem("keep", at: $1) }
        await watch.check()
        let alarm = try #require(watch.alarms.first)
        #expect(
            alarm.hasPrefix("ALARM: the offer keep of monthly was redeemed in com.example.app (Production) without"),
            "\(alarm)")
        #expect(story.service.routes.scrape()[#"offer_signer_unexplained_redemptions{environment="Production"}"#] == 1)
        let health = story.service.routes.get("/health/ready")
        #expect(health.status == 200 && health.text.contains(#""status":"degraded""#))
        #expect(health.text.contains(#""ledger":"degraded""#))
        // The same offer shows again in the transaction: no second alarm.
        try await story.on(30) { try $0.renew(at: $1) }
        await watch.check()
        #expect(watch.alarms == [alarm])
        let found = try await story.service.store.unexplainedRedemptions(
            in: story.service.catalogue.ledgerCoverage.apps, limit: 9)
        _ = try await story.service.store.acknowledge(
            Acknowledgement(try #require(found.first).number, at: Sample.day(31), by: nil, note: nil))
        await watch.check()
        #expect(watch.alarms.isEmpty)
        let scrape = story.service.routes.scrape()
        #expect(scrape[#"offer_signer_unexplained_redemptions{environment="Production"}"#] == 0)
        #expect(
            scrape[
                #"offer_signer_redemptions_total{app="com.example.app",environment="Production",product="monthly",offer="keep",authorised="false"}"#
            ] == 1)
    }
}
