import OfferCore
import OfferEligibility
import OfferHTTP
import StoreTestSupport
import SubscriberStore
import TestSupport
import Testing

@testable import OfferService

@Suite("POST /v1/offers/events")
struct OfferEventRouteTests {
    private static func subscribed(
        _ rule: String = "{rule: retention}", callers: [Caller] = []
    ) async throws -> StoreService {
        let service = try StoreService("{offerID: keep, rule: \(rule)}", callers: callers)
        try await service.addSubscriber("1001", account: 1, autoRenew: false)
        return service
    }

    private static func report(
        _ events: String, to service: StoreService, token: String? = nil
    ) async -> HTTPResponse {
        await service.post("/v1/offers/events", #""events":[\#(events)]"#, token: token)
    }

    private static func named(_ event: String, _ others: String = "") -> String {
        #"{"event":"\#(event)","productID":"monthly","offerID":"keep",\#(StoreService.token())\#(others)}"#
    }

    @Test("events of a signature and of a named offer appear in the look-up")
    func kept() async throws {
        let service = try await Self.subscribed()
        let body = #"{"bundleID":"com.example.app","productID":"monthly","offerID":"keep",\#(StoreService.token())}"#
        let signed = await service.routes.postLater("/v1/promotional-offers", body)
        let nonce = try #require((signed.json["signature"] as? [String: Any])?["nonce"] as? String)
        let at = Sample.day(9).milliseconds
        let response = await Self.report(
            #"{"event":"shown","nonce":"\#(nonce)"},"#
                + Self.named("failed", #","at":\#(at),"error":"invalidOfferSignature""#),
            to: service)
        #expect(response.status == 204, "\(response.text)")
        let lookup = await service.post("/v1/customers/lookup", StoreService.token())
        let expected =
            #""events":[{"event":"failed","offerID":"keep","productID":"monthly","at":\#(at),"error":"invalidOfferSignature"},"#
            + #"{"event":"shown","offerID":"keep","productID":"monthly","at":\#(Sample.day(10).milliseconds)}]"#
        #expect(lookup.text.contains(expected), "\(lookup.text)")
        let scrape = service.routes.scrape()
        #expect(scrape[#"offer_signer_offer_events_total{app="com.example.app",event="shown"}"#] == 1)
    }

    @Test("an app reports each kind of event", arguments: ["shown", "dismissed", "purchased", "pending", "failed"])
    func kinds(event: String) async throws {
        let service = try await Self.subscribed()
        #expect(await Self.report(Self.named(event), to: service).status == 204)
        let lookup = await service.post("/v1/customers/lookup", StoreService.token())
        #expect(lookup.text.contains(#""events":[{"event":"\#(event)","offerID":"keep""#), "\(lookup.text)")
        #expect(
            service.routes.scrape()[#"offer_signer_offer_events_total{app="com.example.app",event="\#(event)"}"#] == 1)
        // A purchase that the App Store does not state is none.
        #expect(try await service.decide(StoreService.token()).signed == ["keep"])
    }

    @Test("reports limit prompts, and never allow an offer")
    func limits() async throws {
        let rule =
            "{all: [{rule: retention}, {not: {shown: {offer: keep, within: 7d, count: 2}}}, {firstShown: {within: 1d}}]}"
        let service = try await Self.subscribed(rule)
        func decide() async throws -> [String] { try await service.decide(StoreService.token()).refused["keep"] ?? [] }
        #expect(try await decide() == [])
        #expect(await Self.report(Self.named("shown"), to: service).status == 204)
        #expect(try await decide() == [])
        service.setDay(10.5)
        #expect(await Self.report(Self.named("shown"), to: service).status == 204)
        #expect(try await decide() == ["shown"])
        service.setDay(11.5)
        #expect(try await decide() == ["first_shown", "shown"])
        service.setDay(18)
        #expect(try await decide() == ["first_shown"])
        // Another customer is not affected.
        try await service.addSubscriber("1002", account: 2, autoRenew: false, signed: 17)
        #expect(try await service.decide(StoreService.token(2)).refused["keep"] == nil)
    }

    private static func events(of service: StoreService) async throws -> [OfferEvent] {
        try await service.store.customers(
            known: Sample.account(1), bundleID: Sample.bundleID, environment: .production
        ).flatMap(\.events)
    }

    @Test("a time in the future or long ago is replaced by now", arguments: [0, 12, 9_000] as [Double])
    func clocks(day: Double) async throws {
        let service = try await Self.subscribed()
        service.setDay(40)
        let at = Sample.day(day).milliseconds
        #expect(await Self.report(Self.named("shown", #","at":\#(at)"#), to: service).status == 204)
        let times = try await Self.events(of: service).map(\.at)
        #expect(times == [day == 12 ? Sample.day(12) : Sample.day(40)])
    }

    @Test(
        "a bad event is refused, and none of the batch is kept",
        arguments: [
            (#"{"event":"seen"}"#, "events[1].event"), (#"{}"#, "events[1].event"), ("1", "events[1]"),
            (#"{"event":"shown","nonce":"x"}"#, "events[1].nonce"),
            (#"{"event":"shown","nonce":"7f8a1c7e-3f2b-4f0d-9b1a-0c5d6e7f8a9b","offerID":"o"}"#, "events[1].offerID"),
            (#"{"event":"shown","productID":"p","applicationUsername":"u"}"#, "events[1].offerID"),
            (#"{"event":"shown","productID":"p","offerID":"o"}"#, "events[1].applicationUsername"),
            (
                #"{"event":"shown","productID":"p","offerID":"o","applicationUsername":""}"#,
                "events[1].applicationUsername"
            ),
            (#"{"event":"shown","productID":"p","offerID":"o","applicationUsername":"u","at":"1"}"#, "events[1].at"),
            (
                #"{"event":"shown","productID":"p","offerID":"o","applicationUsername":"u","error":"e"}"#,
                "events[1].error"
            ),
            (
                #"{"event":"failed","productID":"p","offerID":"o","applicationUsername":"u","error":"a\u0000"}"#,
                "events[1].error"
            ),
            (#"{"event":"shown","productID":"p","offerID":"o","applicationUsername":"u","id":"u"}"#, "events[1].id"),
        ])
    func refused(event: String, field: String) async throws {
        let service = try await Self.subscribed()
        let response = await Self.report(Self.named("shown") + "," + event, to: service)
        #expect(response.status == 400 && response.json["field"] as? String == field, "\(response.text)")
        #expect(try await Self.events(of: service) == [])
    }

    @Test("a batch has 1 to 100 events, of an app that the caller may use")
    func batches() async throws {
        let callers = try [
            Caller.test("one", [.sign]), .test("two", [.sign], apps: ["com.other"]), .test("none", [.facts]),
        ]
        let service = try await Self.subscribed(callers: callers)
        func status(_ count: Int, _ caller: String = "one") async -> Int {
            let events = Array(repeating: Self.named("shown"), count: count).joined(separator: ",")
            return await Self.report(events, to: service, token: "token-of-\(caller)").status
        }
        #expect(await status(0) == 400)
        #expect(await status(100) == 204)
        #expect(await status(101) == 400)
        #expect(await status(1, "two") == 403)
        #expect(await status(1, "none") == 403)
        #expect(await Self.report(Self.named("shown"), to: service).status == 401)
    }

    @Test("offers and environments that are not configured are not stored")
    func notConfigured() async throws {
        let service = try await Self.subscribed()
        for other in [#""offerID":"other""#, #""offerID":"keep","at":1"#] {
            let event = Self.named("shown").replacing(#""offerID":"keep""#, with: other)
            #expect(await Self.report(event, to: service).status == 204)
        }
        #expect(try await Self.events(of: service).map(\.offerID.text.description) == ["keep"])
        let response = await service.post(
            "/v1/offers/events", #""environment":"LocalTesting","events":[\#(Self.named("shown"))]"#)
        #expect(response.status == 400 && response.json["field"] as? String == "environment")
    }

    @Test("events of an account with one Apple Account are those of the Apple Account, whoever reports them")
    func appleAccount() async throws {
        let service = try StoreService("{offerID: keep, rule: {all: [{rule: retention}, {not: {dismissed: true}}]}}")
        try await service.addSubscriber("1001", account: 1, autoRenew: false) { $0.appTransactionID = Sample.id("a1") }
        #expect(await Self.report(Self.named("dismissed"), to: service).status == 204)
        #expect(try await Self.events(of: service).map(\.subject) == [.customer(.appTransactionID(Sample.id("a1")))])
        #expect(try await service.decide(StoreService.token()).refused["keep"] == ["dismissed"])
        // Another account of the same Apple Account.
        try await service.store.merge(
            [
                Sample.transaction("2001", of: "1001", 5, 35) {
                    $0.appAccountToken = Sample.token(2)
                    $0.appTransactionID = Sample.id("a1")
                }
            ], in: Sample.production)
        let second = try await service.decide(StoreService.token(2))
        #expect(second.signed == [])
    }

    @Test("without a database, events are refused")
    func withoutDatabase() async throws {
        let service = try StoreService(
            catalogue: StoreService.customerCatalogue(), isOpen: false)
        #expect(await Self.report(Self.named("shown"), to: service).status == 503)
    }
}
