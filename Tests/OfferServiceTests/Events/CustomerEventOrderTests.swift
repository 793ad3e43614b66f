import OfferCore
import OfferEligibility
import OfferHTTP
import StoreTestSupport
import SubscriberStore
import TestSupport
import Testing

@testable import OfferService
@testable import SubscriberSync

/// The order of a customer's events, the names in them, and events of customers who share a subscription.
@Suite("Events in order, and of customers who share a subscription")
struct CustomerEventOrderTests {
    private typealias Events = CustomerEventTests

    private static let second = 1 / 86_400.0

    /// Signs the offer `stay` for customer 1 on day 10.1, and reports it as shown a second later.
    private static func sign(_ service: StoreService) async throws {
        try await Events.round(service, day: 1)
        try await service.addSubscriber("1001", account: 1, autoRenew: false)
        #expect(try await Events.round(service, day: 10).map(\.type) == ["became_eligible"])
        service.setDay(10.1)
        #expect(try await service.decide(StoreService.token(1) + #","placement":"exit""#).signed == ["stay"])
        service.setDay(10.1 + second)
        let shown = #"{"event":"shown","productID":"monthly","offerID":"stay",\#(StoreService.token())}"#
        #expect(await service.post("/v1/offers/events", #""events":[\#(shown)]"#).status == 204)
    }

    private static func redemption(day: Double) -> SubscriberFact {
        Sample.transaction("1002", of: "1001", day, 40) { purchase in
            purchase.appAccountToken = Sample.token(1)
            purchase.offer = AppliedOffer(type: .promotional, identifier: "stay", discountType: .payAsYouGo)
        }
    }

    @Test(
        "a signature and what the app showed wait for each other, and no event is sent while a signature may be withdrawn"
    )
    func shown() async throws {
        let service = try Events.makeService()
        try await Self.sign(service)
        for seconds in [1.0, 2, 5, 9] {
            #expect(try await Events.round(service, day: 10.1 + seconds * Self.second).isEmpty)
        }
        let found = try await Events.round(service, day: 10.1 + 11 * Self.second)
        #expect(found.map(\.type) == ["signed", "shown", "no_longer_eligible"], "\(found)")
    }

    @Test("a signature that is redeemed within seconds counts at once, in the order of what happened")
    func redeemed() async throws {
        let service = try Events.makeService()
        try await Self.sign(service)
        #expect(try await Events.round(service, day: 10.1 + 1.5 * Self.second).isEmpty)
        try await service.store.merge([Self.redemption(day: 10.1 + 2 * Self.second)], in: Sample.production)
        let found = try await Events.round(service, day: 10.1 + 3 * Self.second)
        #expect(found.map(\.type) == ["signed", "shown", "redeemed", "no_longer_eligible"], "\(found)")
        #expect(try await Events.round(service, day: 10.2).isEmpty)
    }

    @Test("every event about an offer has its rule and its placement, as far as they are known")
    func names() async throws {
        let service = try Events.makeService("{offerID: stay, rule: retention, limits: {perCustomer: 1}}")
        try await Self.sign(service)
        try await service.store.merge([Self.redemption(day: 10.1 + 2 * Self.second)], in: Sample.production)
        var found = try await Events.round(service, day: 10.2)
        let renewed = Sample.transaction("1003", of: "1001", 40, 70) { $0.appAccountToken = Sample.token(1) }
        try await service.store.merge([renewed], in: Sample.production)
        found += try await Events.round(service, day: 40.1)
        #expect(
            found.map(\.type) == ["signed", "shown", "redeemed", "no_longer_eligible", "renewed_after_offer"],
            "\(found)")
        #expect(found.allSatisfy { $0.placement == "exit" }, "\(found)")
        #expect(found.filter { $0.type != "shown" }.allSatisfy { $0.rule == "retention" }, "\(found)")
    }

    @Test("a grant of a person is an event with the rule \"grant\"")
    func granted() async throws {
        let folder = try TemporaryFolder()
        let trail = try await StoreService.trail(in: folder)
        let service = try StoreService(
            "{offerID: back, rule: {subscription: {status: expired}}}",
            app: """
                appAppleID: 1234567890
                    events: {to: ["http://127.0.0.1:9/events"]}
                    grants: {reasons: [goodwill]}
                """
        ) { $0.safeguards.trail = trail }
        try await Events.round(service, day: 1)
        try await service.addSubscriber("1001", account: 1, autoRenew: true)
        try await Events.round(service, day: 10)
        service.setDay(10.1)
        let members = #"\#(StoreService.token(1)),"productID":"monthly","offerID":"back","reason":"goodwill""#
        let made = await service.post("/v1/grants", members)
        #expect(made.status == 200, "\(made.text)")
        let found = try await Events.round(service, day: 10.2)
        let opened = found.filter { $0.type == "grant_opened" }
        #expect(opened.map(\.day) == [10.1] && opened.first?.offerID == "back", "\(found)")
        #expect(opened.first?.rule == "grant" && opened.first?.token == "\(Sample.token(1))")
    }

    @Test("an offer that the App Store was told to show is an event, once")
    func shownByAppStore() async throws {
        let service = try Events.makeService()
        try await Events.round(service, day: 0.5)
        try await service.addSubscriber("1001", account: 1, autoRenew: true)
        for _ in 1...2 {
            try await service.store.record(
                Sample.shown(1, of: Sample.id("1001"), offer: "stay"), in: Sample.production)
        }
        let found = try await Events.round(service, day: 1.1).filter { $0.type == "shown" }
        #expect(
            found.map(\.day) == [1] && found.first?.offerID == "stay" && found.first?.customer == "1001", "\(found)")
        #expect(try await Events.round(service, day: 1.2).isEmpty)
    }

    // MARK: Customers who share a subscription

    private static func shared() throws -> StoreService {
        try StoreService(
            "{offerID: stay, rule: {subscription: {autoRenew: off}}}",
            app: """
                appAppleID: 1234567890
                    ownership: share
                    events: {to: ["http://127.0.0.1:9/events"]}
                """)
    }

    /// Lets a second account buy with the first subscription.
    private static func share(_ service: StoreService) async throws {
        let other = Sample.transaction("1002", of: "1001", 0, 30) { $0.appAccountToken = Sample.token(2) }
        try await service.store.merge([other], in: Sample.production)
    }

    @Test(
        "an account that begins to share a subscription becomes eligible itself, and repeats nothing",
        arguments: [true, false])
    func sharing(isNew: Bool) async throws {
        let service = try Self.shared()
        if isNew { try await Events.round(service, day: 1) }
        try await service.addSubscriber("1001", account: 1, autoRenew: false)
        #expect(try await Events.round(service, day: 10).map(\.token) == (isNew ? ["\(Sample.token(1))"] : []))
        try await Self.share(service)
        let found = try await Events.round(service, day: 10.1)
        #expect(found.map(\.type) == ["became_eligible"] && found.first?.token == "\(Sample.token(2))", "\(found)")
        #expect(try await Events.round(service, day: 10.2).isEmpty)
    }

    @Test("an anonymous customer who gets a name is not announced again")
    func named() async throws {
        let service = try Self.shared()
        try await Events.round(service, day: 1)
        try await service.addSubscriber("1001", account: nil, autoRenew: false)
        #expect(try await Events.round(service, day: 10).map(\.type) == ["became_eligible"])
        try await Self.share(service)
        #expect(try await Events.round(service, day: 10.1).isEmpty)
    }

    @Test("an erasure leaves the events of others who share a subscription")
    func erased() async throws {
        let service = try Self.shared()
        try await Events.round(service, day: 1)
        try await service.addSubscriber("1001", account: 1, autoRenew: false)
        try await Self.share(service)
        let app = try #require(service.catalogue.apps[Sample.bundleID])
        let now = Sample.day(10)
        for review in try await service.store.dueReviews(of: Sample.production, by: now, limit: 9) {
            _ = try await CustomerReviewer(service.store, of: Sample.production, app).review(review, at: now)
        }
        #expect(try await service.store.receivers().map(\.pending) == [2])
        _ = try await service.store.erase(Sample.account(1), in: Sample.production)
        let left = try await Events.deliver(service, day: 10.1)
        #expect(left.map(\.token) == ["\(Sample.token(2))"], "\(left)")
    }
}
