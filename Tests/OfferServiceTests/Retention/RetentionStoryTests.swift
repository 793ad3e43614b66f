import OfferEligibility
import OfferHTTP
import StoreTestSupport
import SubscriberStore
import TestSupport
import Testing

@testable import AppStoreTestSupport

@Suite("Stories of customers who are about to cancel")
struct RetentionStoryTests {
    private static let cases = """
        - rule: save
          promotionalOffer: {productID: monthly, offerID: stay, message: \(Retention.message(1))}
        - message: \(Retention.message(5))
        """
    private static let offers = "{offerID: stay, rule: save, limits: {perCustomer: {count: 1, every: 365d}}}"

    private struct Player {
        let service: StoreService
        let story: Story

        init() throws {
            service = try StoreService.retention(RetentionStoryTests.cases, offers: RetentionStoryTests.offers)
            story = try Story(service: service)
        }

        /// The customer opens the page where a subscription can be cancelled.
        func viewPage(on day: Double, number: Int) async throws -> HTTPResponse {
            service.setDay(day)
            let original = story.customer.originalTransactionID
            return try await service.message(
                Retention.Request(number, at: Sample.day(day)).with("originalTransactionId", "\"\(original)\""))
        }
    }

    @Test("the offer is shown and redeemed, a notification closes the authorisation, and the customer counts as saved")
    func saved() async throws {
        let player = try Player()
        let (service, story) = (player.service, player.story)
        let alarm = LedgerAlarm(service)
        service.setDay(0)
        await alarm.check()
        try await story.on(0) { try $0.subscribe(at: $1) }
        #expect(try await player.viewPage(on: 1, number: 1).text == Retention.shown(5))
        await story.setFact("churnRisk", #""high""#)
        let shown = try await player.viewPage(on: 2, number: 2)
        #expect(shown.offerClaims?["transactionId"] as? String == story.customer.originalTransactionID, "\(shown.text)")
        #expect(try await story.states() == [.outstanding])
        #expect(try await player.viewPage(on: 2.01, number: 3).text == Retention.shown(5), "one at a time")
        try await story.on(2.1) { try $0.redeem("stay", at: $1) }
        #expect(try await story.states() == [.redeemed])
        #expect(try await story.redemptions() == ["stay": true])
        await alarm.check()
        let series =
            #"{app="com.example.app",environment="Production",product="monthly",offer="stay",authorised="true"}"#
        #expect(service.routes.scrape()["offer_signer_redemptions_total" + series] == 1)
        #expect(alarm.alarms.isEmpty)
        // The offer is pending now, and used up for a year.
        #expect(try await player.viewPage(on: 3, number: 4).text == Retention.shown(5))
        try await story.on(30) { try $0.renew(at: $1) }
        #expect(try await player.viewPage(on: 31, number: 5).text == Retention.shown(5))
        for month in 2...12 { try await story.on(Double(month) * 30) { try $0.renew(at: $1) } }
        try await story.on(390) { try $0.renew(at: $1) }
        #expect(try await player.viewPage(on: 400, number: 6).offerClaims != nil, "a year later")
    }

    @Test("the customer cancels anyway: the authorisation expires, and nothing counts as saved")
    func cancelled() async throws {
        let player = try Player()
        let (service, story) = (player.service, player.story)
        let alarm = LedgerAlarm(service)
        await alarm.check()
        try await story.on(0) { try $0.subscribe(at: $1) }
        await story.setFact("churnRisk", #""high""#)
        #expect(try await player.viewPage(on: 2, number: 1).offerClaims != nil)
        try await story.on(2.1) { try $0.setAutoRenew(false, at: $1) }
        // The rule is for those who still renew.
        #expect(try await player.viewPage(on: 4, number: 2).text == Retention.shown(5))
        try await story.on(30) { try $0.expire(at: $1) }
        await alarm.check()
        #expect(try await story.states() == [.outstanding], "expired")
        let held = try await service.authorisations(of: story.customer.originalTransactionID)
        #expect(!held[0].isOutstanding(at: Sample.day(30)))
        #expect(try await story.redemptions().isEmpty)
        #expect(service.routes.scrape().sum(of: "offer_signer_redemptions_total") == 0)
    }
}
