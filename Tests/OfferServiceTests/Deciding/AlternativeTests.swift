import Foundation
import OfferCore
import OfferEligibility
import OfferHTTP
import OfferService
import StoreTestSupport
import SubscriberStore
import TestSupport
import Testing

@Suite("What an app shows instead of an offer")
struct AlternativeTests {
    private static let app = """
        appAppleID: 1234567890
            instead:
              - {rule: {subscription: {status: [billing_retry, billing_grace_period]}}, show: update_payment}
              - {rule: {fact: {name: silent, is: true}}, show: nothing}
              - {rule: {subscription: {status: active}}, product: yearly}
              - {rule: {placement: [cancel]}, message: {key: pause, text: "Pause for a month?"}}
              - {rule: {subscription: {status: expired}}, message: {key: miss_you}}
              - {show: manage_subscriptions}
        """
    private static let offers = "{offerID: stay, rule: retention, limits: {perCustomer: 1, outstanding: 1}}"

    private static func instead(_ decision: StoreService.Decision) -> [String: String]? {
        decision.json["instead"] as? [String: String]
    }

    private static func ask(
        _ service: StoreService, _ number: UInt64 = 1, _ more: String = #","sign":false"#
    ) async throws -> StoreService.Decision {
        let decision = try await service.decide(StoreService.token(number) + more)
        #expect(decision.response.status == 200, "\(decision.response.text)")
        return decision
    }

    @Test("a customer who may have an offer gets it; without one, the first case that holds is shown, with the state")
    func cases() async throws {
        let service = try StoreService(Self.offers, app: Self.app)
        try await service.addSubscriber("1000", account: 1, autoRenew: false)
        let offered = try await Self.ask(service)
        #expect(offered.eligible == ["stay"] && Self.instead(offered) == nil)
        #expect(offered.json["state"] as? String == "active")
        try await service.addSubscriber("2000", account: 2, autoRenew: true)
        let active = try await Self.ask(service, 2)
        #expect(active.eligible == [] && Self.instead(active) == ["show": "product", "productID": "yearly"])
        // Who has the product already gets the next case.
        try await service.addSubscriber("3000", account: 3, autoRenew: true)
        let yearly = try ProductID(utf8: Array("yearly".utf8))
        var purchase = Purchase(productID: yearly, purchaseDate: Sample.day(1))
        purchase.type = .autoRenewableSubscription
        purchase.subscriptionGroupID = "21012345"
        purchase.expiresDate = Sample.day(360)
        purchase.ownership = .purchased
        purchase.appAccountToken = Sample.token(3)
        try await service.store.merge(
            [Sample.fact(.transaction(purchase), "3001", of: "3001", signed: 1)], in: Sample.production)
        #expect(Self.instead(try await Self.ask(service, 3)) == ["show": "manage_subscriptions"])
        let cancelling = try await Self.ask(service, 3, #","sign":false,"placement":"cancel""#)
        #expect(Self.instead(cancelling) == ["show": "message", "key": "pause", "text": "Pause for a month?"])
    }

    @Test("a lapsed customer and one whose payment failed see what helps them, and a fact can silence all")
    func states() async throws {
        let service = try StoreService(Self.offers, app: Self.app)
        try await service.addSubscriber("1000", account: 1, autoRenew: true)
        let retry = Sample.renewal(of: "1000", signed: 30.1) { renewal in
            renewal.isInBillingRetryPeriod = true
            renewal.expirationIntent = .billingError
            renewal.appAccountToken = Sample.token(1)
        }
        try await service.store.merge([retry, Sample.status(3, of: "1000", signed: 30.1)], in: Sample.production)
        service.setDay(31)
        let failed = try await Self.ask(service)
        #expect(failed.json["state"] as? String == "payment_failed")
        #expect(Self.instead(failed) == ["show": "update_payment"])
        try await service.addSubscriber("2000", account: 2, autoRenew: false)
        let end = Sample.renewal(of: "2000", signed: 30.1) { renewal in
            renewal = Renewal(productID: renewal.productID, autoRenewStatus: .off)
            renewal.expirationIntent = .cancelled
            renewal.appAccountToken = Sample.token(2)
        }
        try await service.store.merge([end, Sample.status(2, of: "2000", signed: 30.1)], in: Sample.production)
        let ended = try await Self.ask(service, 2)
        #expect(
            ended.json["state"] as? String == "ended" && Self.instead(ended) == ["show": "message", "key": "miss_you"])
        _ = await service.setFacts(#"\#(StoreService.token(2)),"environment":"Production","facts":{"silent":true}"#)
        #expect(Self.instead(try await Self.ask(service, 2)) == nil)
    }

    @Test("nothing is said about a stranger, nor about a period whose outcome is not known yet")
    func unknown() async throws {
        let service = try StoreService(Self.offers, app: Self.app)
        let stranger = try await Self.ask(service, 9)
        #expect(stranger.json["state"] == nil && Self.instead(stranger) == ["show": "manage_subscriptions"])
        try await service.addSubscriber("1000", account: 1, autoRenew: true)
        service.setDay(30.2)
        #expect(try await Self.ask(service).json["state"] == nil)
    }

    @Test("a customer whom a limit keeps from the offer sees the alternative")
    func limits() async throws {
        let service = try StoreService(Self.offers, app: Self.app)
        try await service.addSubscriber("1000", account: 1, autoRenew: false)
        #expect(try await Self.ask(service, 1, "").signed == ["stay"])
        let second = try await Self.ask(service)
        #expect(second.refused == ["stay": ["outstanding"]])
        #expect(Self.instead(second) == ["show": "product", "productID": "yearly"])
    }

    @Test("a customer who is held out of the offer sees the alternative, and one who is not sees the offer")
    func heldOut() async throws {
        let service = try StoreService(
            "{offerID: stay, rule: {all: [{subscription: {autoRenew: off}}, {share: {of: 0.5, by: s}}]}}",
            app: Self.app)
        var offered = 0
        for number in 1...40 as ClosedRange<UInt64> {
            try await service.addSubscriber("\(1000 + number)", account: number, autoRenew: false) {
                $0.appTransactionID = Sample.id("70\(number)")
            }
            let decision = try await Self.ask(service, number)
            if decision.eligible == ["stay"] {
                offered += 1
                #expect(Self.instead(decision) == nil)
            } else {
                #expect(decision.refused == ["stay": ["holdout"]])
                #expect(Self.instead(decision) == ["show": "product", "productID": "yearly"])
            }
        }
        #expect((5...35).contains(offered))
    }

    @Test("the answer with each kind of content matches the contract, and offer-signer decide says it in words")
    func contract() async throws {
        let contract = try TestService().get("/openapi.json").json
        let schema = JSONSchema(document: contract)
        let ofDecisions = try #require(schema.resolve("#/components/schemas/Decisions"))
        for (content, words) in [
            ("show: update_payment", "the page of the customer's payment"),
            ("show: manage_subscriptions", "the page of the customer's subscriptions"),
            ("product: yearly", "the product yearly"), (#"message: {key: a, text: "b"}"#, "the message a"),
        ] {
            let service = try StoreService(
                Self.offers, app: "appAppleID: 1234567890\n    instead: [{\(content)}]")
            try await service.addSubscriber("1000", account: 1, autoRenew: true)
            let answer = try await Self.ask(service)
            #expect(Self.instead(answer) != nil)
            #expect(schema.faults(of: answer.json, against: ofDecisions) == [])
            let app = try #require(service.catalogue.apps[Sample.bundleID])
            let decision = try await CustomerDecision(
                about: Sample.account(1), of: app, Sample.bundleID, in: nil, productIDs: nil, store: service.current,
                at: Sample.day(10), log: RecordedLog().logger)
            #expect(decision.text.contains("instead of an offer, the app shows \(words)\n"))
        }
    }
}
