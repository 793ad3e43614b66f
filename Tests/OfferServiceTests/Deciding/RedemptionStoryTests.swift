import OfferEligibility
import SubscriberStore
import TestSupport
import Testing

@testable import AppStoreTestSupport
@testable import SubscriberSync

@Suite("Stories of redemptions")
struct RedemptionStoryTests {
    @Test("an offer that is announced again while it runs counts again, so a cap of two ends there")
    func announcedAgain() async throws {
        let service = try StoreService("{offerID: keep, rule: retention, limits: {perCustomer: 2}}")
        let story = try Story(service: service)
        try await story.on(0) { try $0.subscribe(at: $1) }
        for month in [0.0, 30] {
            try await story.on(month + 5) { try $0.setAutoRenew(false, at: $1) }
            let decision = try await story.ask(on: month + 6)
            #expect(decision.signed == ["keep"], "\(decision.response.text)")
            try await story.on(month + 6.1) { try $0.redeem("keep", at: $1) }
            if month == 0 { try await story.on(30) { try $0.renew(at: $1) } }
        }
        #expect(try await story.states() == [.redeemed, .redeemed])
        // The second month of the offer begins, and the customer is about to leave again.
        try await story.on(60) { try $0.renew(at: $1) }
        try await story.on(65) { try $0.setAutoRenew(false, at: $1) }
        #expect(try await story.ask(on: 66).refused["keep"] == ["customer_cap"])
        #expect(
            try await service.store.unexplainedRedemptions(in: service.catalogue.ledgerCoverage.apps, limit: 9) == [])
    }

    @Test("a signature that expired unused explains no redemption of a thief a year later")
    func expiredSignature() async throws {
        let story = try Story()
        story.service.setDay(0)
        let watch = LedgerAlarm(story.service)
        await watch.check()
        try await story.on(0) { try $0.subscribe(at: $1) }
        try await story.on(5) { try $0.setAutoRenew(false, at: $1) }
        #expect(try await story.ask(on: 6).signed == ["keep"])
        try await story.on(400) { try $0.subscribe(at: $1, redeeming: "keep") }
        await watch.check()
        #expect(watch.alarms.count == 1)
        #expect(try await story.redemptions() == ["keep": false])
    }

    @Test("the purchaser's offer on a family member's share is no redemption")
    func share() async throws {
        let story = try Story()
        story.service.setDay(0)
        let watch = LedgerAlarm(story.service)
        await watch.check()
        try await story.on(1) { try $0.share(at: $1, redeemedAs: "keep") }
        await watch.check()
        #expect(watch.alarms.isEmpty)
        #expect(try await story.redemptions().isEmpty)
    }
}
