import Foundation
import OfferAudit
import OfferCore
import OfferEligibility
import OfferHTTP
import OfferService
import StoreTestSupport
import SubscriberStore
import TestSupport
import Testing

@testable import AppStoreTestSupport

/// Subscribers 1 and 2, whom the rule of the offer `back` refuses, and persons who grant it.
@Suite("A person grants an offer to one customer")
struct GrantTests {
    private static let app =
        "appAppleID: 1234567890\n    grants: {reasons: [goodwill, outage], dailyBudget: 2, expiresIn: 5d}"

    private let folder: TemporaryFolder
    private let trail: AuditTrail?

    init() async throws {
        folder = try TemporaryFolder()
        trail = try await StoreService.trail(in: folder)
    }

    /// A service without customers.
    private func empty(
        app: String = app, callers: [Caller] = [], trail: AuditTrail? = nil
    ) throws -> StoreService {
        try StoreService(Story.offers, app: app, callers: callers) { $0.safeguards.trail = trail ?? self.trail }
    }

    private func service(
        app: String = app, callers: [Caller] = [], trail: AuditTrail? = nil
    ) async throws -> StoreService {
        let service = try empty(app: app, callers: callers, trail: trail)
        for number in 1...3 as ClosedRange<UInt64> {
            try await service.addSubscriber("\(1000 + number)", account: number)
        }
        return service
    }

    private static func members(
        _ number: UInt64 = 1, _ offer: String = "back", _ more: String = ""
    ) -> String {
        #"\#(StoreService.token(number)),"productID":"monthly","offerID":"\#(offer)","reason":"goodwill"\#(more)"#
    }

    private static func grant(
        _ service: StoreService, _ number: UInt64 = 1, _ offer: String = "back", _ more: String = "",
        token: String? = nil
    ) async -> HTTPResponse {
        await service.post("/v1/grants", members(number, offer, more), token: token)
    }

    /// A grant of the offer `back`.
    private static func stored(to customer: CustomerIdentifier, _ number: UInt64 = 1, at day: Double = 1) throws
        -> OfferGrant
    {
        OfferGrant(
            id: UUIDText(high: 1, low: number), subject: .customer(customer), account: nil,
            productID: try ProductID(utf8: Array("monthly".utf8)), offerID: try OfferID(utf8: Array("back".utf8)),
            purpose: OfferGrant.Purpose(reason: "goodwill"), liftsLimits: false, maker: OfferGrant.Person("ann"),
            at: Sample.day(day), expiresAt: Sample.day(day + 5), approval: .notNeeded)
    }

    /// Adds a grant of day 9 to another customer, which waits for approval.
    private static func waiting(in service: StoreService) async throws -> UUIDText {
        let customer = CustomerIdentifier.originalTransactionID(Sample.id("9999"))
        let grant = try stored(to: customer, 2, at: 9)
        _ = try await service.store.make(
            GrantRequest(
                app: Sample.production, grant: grant, names: [customer], accounts: [], holders: [], budget: 0,
                budgetStart: Sample.day(0)))
        return grant.id
    }

    private static func act(
        _ service: StoreService, _ method: String, _ path: String, _ id: String, token: String? = nil
    ) async -> HTTPResponse {
        await service.routes.respondLater(.json(method, path, #"{"id":"\#(id)"}"#, token: token))
    }

    private static func id(_ response: HTTPResponse) throws -> String {
        try #require(response.json["id"] as? String, "\(response.text)")
    }

    /// The states of a customer's grants according to a look-up.
    private static func states(_ service: StoreService, _ number: UInt64 = 1) async -> [String] {
        let grants = await service.lookUp(StoreService.token(number)).first?["grants"] as? [[String: Any]] ?? []
        return grants.compactMap { $0["state"] as? String }
    }

    @Test("the story: granted, signed under the rule grant, redeemed, and used up; another customer gets nothing")
    func story() async throws {
        let story = try Story(service: empty())
        let other = try Story(2, service: story.service)
        for story in [story, other] { try await story.on(0) { try $0.subscribe(at: $1) } }
        #expect(try await story.ask(on: 1).refused["back"] == ["ended_because", "subscription_status"])
        let response = await Self.grant(story.service, 1, "back", #","note":"outage of 3 May","ticket":"T-17""#)
        #expect(response.status == 200 && response.json["state"] as? String == "open", "\(response.text)")
        #expect(response.json["ticket"] as? String == "T-17" && response.json["environment"] as? String == "Production")
        #expect(response.json["expiresAt"] as? Int64 == (Sample.day(1) + .hours(5 * 24)).milliseconds)
        let decision = try await story.ask(on: 2)
        #expect(decision.signed == ["back"], "\(decision.response.text)")
        #expect(decision.offers.first?["rule"] as? String == "grant")
        #expect(
            (decision.offers.first?["signature"] != nil) != (decision.offers.first?["compactJWS"] != nil),
            "one form, because each could be redeemed")
        try story.requireValid(decision, "back", on: 2)
        #expect(await Self.states(story.service) == ["signed"])
        #expect(try await story.ask(on: 2.1).refused["back"] == ["outstanding"])
        #expect(try await other.ask(on: 2).refused["back"] == ["ended_because", "subscription_status"])
        try await story.on(2.2) { try $0.redeem("back", at: $1) }
        #expect(await Self.states(story.service) == ["redeemed"])
        #expect(try await story.redemptions() == ["back": true])
        try await story.on(30) { try $0.renew(at: $1) }
        let after = try await story.ask(on: 31)
        #expect(after.refused["back"]?.contains("ended_because") == true, "the rule decides again")
        let again = await Self.grant(story.service)
        #expect(again.status == 200, "\(again.text)")
        #expect(try await story.ask(on: 31.1).refused["back"] == ["customer_cap"], "once in a year")
        _ = await Self.act(story.service, "DELETE", "/v1/grants", try Self.id(again))
        let lifted = await Self.grant(story.service, 1, "back", #","liftsLimits":true"#)
        #expect(lifted.status == 200, "\(lifted.text)")
        #expect(try await story.ask(on: 31.2).signed == ["back"])
    }

    @Test("a request with proofs is decided under the grant, even if the store knows nothing but the grant")
    func proven() async throws {
        let story = try Story(service: empty())
        try await story.on(0) { try $0.subscribe(at: $1) }
        story.service.setDay(1)
        #expect(await Self.grant(story.service).status == 200)
        let decision = try await story.ask(on: 2, hasProofs: true)
        #expect(decision.signed == ["back"], "\(decision.response.text)")
        #expect(decision.offers.first?["rule"] as? String == "grant")
        let other = try Story(service: empty())
        other.customer = story.customer
        _ = try await other.service.store.make(
            GrantRequest(
                app: Sample.production, grant: Self.stored(to: Sample.account(1)), names: [Sample.account(1)],
                accounts: [], holders: [], budget: 1, budgetStart: Sample.day(0)))
        #expect(try await other.ask(on: 2, hasProofs: true).signed == ["back"])
    }

    @Test("a grant that is withdrawn or over gives nothing more")
    func withdrawn() async throws {
        let service = try await self.service()
        let id = try Self.id(await Self.grant(service))
        #expect(try await service.decide(#"\#(StoreService.token()),"sign":false"#).eligible == ["back"])
        let withdrawn = await Self.act(service, "DELETE", "/v1/grants", id)
        #expect(withdrawn.status == 200 && withdrawn.json["state"] as? String == "withdrawn", "\(withdrawn.text)")
        #expect(try await service.decide(#"\#(StoreService.token()),"sign":false"#).eligible == [])
        service.setDay(10.1)
        let again = await Self.act(service, "DELETE", "/v1/grants", id)
        #expect(again.status == 409 && again.json["code"] as? String == "grant_closed")
        service.setDay(10.5)
        _ = await Self.grant(service)
        service.setDay(15.4)
        #expect(try await service.decide(#"\#(StoreService.token()),"sign":false"#).eligible == ["back"])
        service.setDay(15.5)
        #expect(try await service.decide(#"\#(StoreService.token()),"sign":false"#).eligible == [])
        #expect(await Self.states(service) == ["withdrawn", "expired"])
    }

    @Test("a grant to one person is not for another person who shares the Apple Account")
    func shared() async throws {
        let service = try empty()
        for number in 1...2 as ClosedRange<UInt64> {
            try await service.addSubscriber("\(1000 + number)", account: number) {
                $0.appTransactionID = Sample.id("70")
            }
        }
        let granted = await Self.grant(service, 1)
        #expect(granted.json["appTransactionID"] as? String == "70", "\(granted.text)")
        #expect(try await service.decide(#"\#(StoreService.token(1)),"sign":false"#).eligible == ["back"])
        #expect(try await service.decide(#"\#(StoreService.token(2)),"sign":false"#).eligible == [])
        #expect(await Self.states(service, 2) == [])
        #expect(await Self.grant(service, 2).status == 200, "the other person can have one too")
    }

    @Test("above the daily budget, the grant counts only after a second person has approved it")
    func budget() async throws {
        let callers = [try Caller.test("ann"), try Caller.test("bob")]
        let service = try await self.service(callers: callers)
        for number in 1...2 as ClosedRange<UInt64> {
            let made = await Self.grant(service, number, token: "token-of-ann")
            #expect(made.json["state"] as? String == "open", "\(made.text)")
        }
        let third = await Self.grant(service, 3, token: "token-of-ann")
        #expect(third.status == 200 && third.json["state"] as? String == "awaiting_approval", "\(third.text)")
        let members = StoreService.token(3) + #","sign":false"#
        #expect(try await service.decide(members, token: "token-of-ann").eligible == [])
        let waiting = await service.routes.respondLater(
            HTTPRequest(
                method: "GET", target: "/v1/grants?bundleID=com.example.app&state=awaiting_approval",
                authorization: "Bearer token-of-bob"))
        let listed = waiting.json["grants"] as? [[String: Any]] ?? []
        #expect(listed.count == 1 && listed.first?["madeBy"] as? String == "ann", "\(waiting.text)")
        let id = try Self.id(third)
        let same = await Self.act(service, "POST", "/v1/grants/approve", id, token: "token-of-ann")
        #expect(same.status == 403 && same.json["code"] as? String == "second_person_needed")
        let approved = await Self.act(service, "POST", "/v1/grants/approve", id, token: "token-of-bob")
        #expect(approved.json["state"] as? String == "open" && approved.json["approvedBy"] as? String == "bob")
        #expect(try await service.decide(members, token: "token-of-ann").eligible == ["back"])
        let nextDay = Sample.day(11)
        service.routes.setTime(nextDay)
        let later = await Self.grant(service, 3, "keep", token: "token-of-ann")
        #expect(later.json["state"] as? String == "open", "the budget is for a day: \(later.text)")
    }

    @Test("what cannot be granted is refused with a reason")
    func refused() async throws {
        let callers = [
            try Caller.test("all"), try Caller.test("grants", [.grant]), try Caller.test("signs", [.sign]),
            try Caller.test("elsewhere", [.grant], apps: ["com.example.other"]),
        ]
        let service = try await self.service(callers: callers)
        let unconfigured = try await self.service(app: "appAppleID: 1234567890")
        let none = await Self.grant(unconfigured)
        #expect(none.status == 422 && none.json["code"] as? String == "grants_not_configured")
        for (members, token, status, code) in [
            (Self.members(), "signs", 403, "scope_missing"), (Self.members(), "elsewhere", 403, "app_not_served"),
            (Self.members(1, "back", #","liftsLimits":true"#), "grants", 403, "scope_missing"),
            (Self.members(1, "nothing"), "grants", 422, "not_grantable"),
            (Self.members(9), "grants", 404, "unknown_customer"),
            (Self.members(1, "back", #","expiresAt":1"#), "grants", 400, "invalid_field"),
            (Self.members(1, "back", #","expiresAt":"soon""#), "grants", 400, "wrong_type"),
            (
                Self.members(1, "back", #","note":"\#(String(repeating: "x", count: 1001))""#), "grants", 400,
                "invalid_field"
            ),
            (Self.members(1, "back", #","person":"Ann""#), "grants", 400, "unknown_field"),
            (Self.members().replacing("goodwill", with: "a whim"), "grants", 400, "invalid_field"),
            (Self.members(), "grants", 200, ""), (Self.members(), "grants", 409, "grant_exists"),
        ] {
            let response = await service.post("/v1/grants", members, token: "token-of-\(token)")
            #expect(response.status == status, "\(members): \(response.text)")
            #expect(response.json["code"] as? String ?? "" == code)
        }
        let unknown = await Self.act(
            service, "DELETE", "/v1/grants", "00000000-0000-4000-8000-000000000000", token: "token-of-grants")
        #expect(unknown.status == 404 && unknown.json["code"] as? String == "unknown_grant")
    }

    @Test("without an audit trail nobody can grant or approve")
    func withoutTrail() async throws {
        let service = try StoreService(Story.offers, app: Self.app)
        try await service.addSubscriber()
        let refused = await Self.grant(service)
        #expect(refused.status == 422 && refused.text.contains("no audit trail"), "\(refused.text)")
        let waiting = try await Self.waiting(in: service)
        let unapproved = await Self.act(service, "POST", "/v1/grants/approve", waiting.description)
        #expect(unapproved.status == 422 && unapproved.text.contains("no audit trail"), "\(unapproved.text)")
        #expect(await Self.act(service, "DELETE", "/v1/grants", waiting.description).status == 200)
    }

    @Test("without grants in the configuration, nothing is granted, signed or approved, and grants can be withdrawn")
    func turnedOff() async throws {
        let service = try await self.service(app: "appAppleID: 1234567890")
        let subscription = CustomerIdentifier.originalTransactionID(Sample.id("1001"))
        let stored = try Self.stored(to: subscription, at: 9)
        _ = try await service.store.make(
            GrantRequest(
                app: Sample.production, grant: stored, names: [subscription], accounts: [], holders: [], budget: 1,
                budgetStart: Sample.day(0)))
        #expect(await Self.states(service) == ["open"])
        #expect(try await service.decide(#"\#(StoreService.token()),"sign":false"#).eligible == [])
        let waiting = try await Self.waiting(in: service)
        let unapproved = await Self.act(service, "POST", "/v1/grants/approve", waiting.description)
        #expect(unapproved.status == 422 && unapproved.json["code"] as? String == "grants_not_configured")
        #expect(await Self.act(service, "DELETE", "/v1/grants", waiting.description).status == 200)
    }

    @Test("a caller without the scope customers sees the customers and notes of its own grants only")
    func privacy() async throws {
        let callers = [
            try Caller.test("ann", [.grant]), try Caller.test("bob", [.grant]),
            try Caller.test("eve", [.grant, .customers]),
        ]
        let service = try await self.service(callers: callers)
        let note = #","note":"outage of 3 May","ticket":"T-17""#
        let made = await Self.grant(service, 1, "back", note, token: "token-of-ann")
        #expect(made.json["ticket"] as? String == "T-17", "\(made.text)")
        for (name, isShown) in [("ann", true), ("bob", false), ("eve", true)] {
            let list = await service.routes.respondLater(
                HTTPRequest(
                    method: "GET", target: "/v1/grants?bundleID=com.example.app",
                    authorization: "Bearer token-of-\(name)"))
            #expect(list.text.contains("goodwill"), "\(list.text)")
            for personal in ["outage of 3 May", "T-17", "originalTransactionID"] {
                #expect(list.text.contains(personal) == isShown, "\(name): \(list.text)")
            }
        }
    }

    @Test("of two persons who grant the same offer at once, one succeeds")
    func atOnce() async throws {
        let service = try await self.service()
        let statuses = await withTaskGroup(of: Int.self) { group in
            for _ in 0..<8 { group.addTask { await Self.grant(service).status } }
            return await group.reduce(into: []) { $0.append($1) }
        }
        #expect(statuses.sorted() == [200] + Array(repeating: 409, count: 7))
    }

    @Test("a grant is in the audit trail before it counts, and a grant without its line is not made")
    func audited() async throws {
        let folder = try TemporaryFolder()
        let service = try await self.service(trail: StoreService.trail(in: folder))
        let id = try Self.id(await Self.grant(service, 1, "back", #","note":"a secret note""#))
        #expect(try await service.decide().signed == ["back"])
        _ = await Self.act(service, "DELETE", "/v1/grants", id)
        let text = try folder.text("audit.jsonl")
        let lines = text.split(separator: "\n").compactMap {
            try? JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any]
        }.filter { $0["kind"] != nil }
        #expect(
            lines.map { $0["kind"] as? String }
                == ["customer_grant", "promotional_offer_jws", "customer_grant_withdrawn"], "\(text)")
        #expect(lines[0]["grant"] as? String == id && lines[0]["reason"] as? String == "goodwill")
        #expect(lines[0]["offerID"] as? String == "back" && lines[1]["rule"] as? String == "grant")
        #expect(lines[0]["madeBy"] as? String == "-" && lines[2]["madeBy"] as? String == "-")
        #expect((lines[0]["expiresAt"] as? String)?.hasPrefix("2025-10-24T08:53:20") == true, "five days later")
        #expect(!text.contains("secret note"))
        try FileManager.default.removeItem(atPath: folder.path + "/audit.jsonl")
        let full = try TemporaryFolder()
        try FileManager.default.createSymbolicLink(
            atPath: full.path + "/audit.jsonl", withDestinationPath: "/dev/full")
        let mute = try await self.service(trail: StoreService.trail(in: full))
        let refused = await Self.grant(mute)
        #expect(refused.status == 503 && refused.json["code"] as? String == "audit_unavailable", "\(refused.text)")
        #expect(try await mute.store.grants(in: Sample.production, .all, before: nil, limit: 9) == [])
    }

    @Test("who buys with another person's token gets no grant of that person")
    func stolenToken() async throws {
        let service = try StoreService.retention(
            "- message: \(Retention.message(5))",
            app: "appAppleID: 1234567890\n    grants: {message: \(Retention.message(7))}", rules: ""
        ) {
            $0.safeguards.trail = trail
        }
        // The account has several Apple Accounts, so the grant is kept under the account.
        for id in ["1000", "1001"] {
            try await service.addSubscriber(id, autoRenew: false) { $0.appTransactionID = Sample.id("7\(id)") }
        }
        let granted = await Self.grant(service, 1, "keep")
        #expect(granted.json["appAccountToken"] != nil, "\(granted.text)")
        try await service.addSubscriber("3000", autoRenew: false) { $0.appTransactionID = Sample.id("73000") }
        let thief = Retention.Request(2).with("originalTransactionId", #""3000""#)
        #expect(try await service.message(thief).text == Retention.shown(5))
        #expect(try await service.decide(#"\#(StoreService.token()),"sign":false"#).eligible.first == "keep")
    }

    @Test("the App Store's cancel page shows the granted offer, and its own customer only")
    func retention() async throws {
        let message = Retention.message(7)
        let cases = "- message: \(Retention.message(5))"
        let service = try StoreService.retention(
            cases, app: "appAppleID: 1234567890\n    grants: {message: \(message)}", rules: ""
        ) { $0.safeguards.trail = trail }
        try await service.addSubscriber(autoRenew: false)
        try await service.addSubscriber("2000", account: 2, autoRenew: false)
        #expect(try await service.message().text == Retention.shown(5))
        let granted = await Self.grant(service, 1, "keep")
        #expect(granted.status == 200, "\(granted.text)")
        let answer = try await service.message(Retention.Request(2))
        #expect(answer.text.contains(message) && answer.text.contains(#""promotionalOffer""#), "\(answer.text)")
        #expect(try await service.authorisations().last?.source == OfferSource(rule: "grant", channel: .grant))
        #expect(
            try await service.exposures().filter { $0.source.channel == .grant }.map(\.offerID?.text.description)
                == ["keep"])
        let restarted = try service.restarted()
        let detachedWork = Task { try await restarted.detachedWork.run() }
        defer { detachedWork.cancel() }
        let repeated = await restarted.postLater("/v1/retention-messages", try Retention.Request(2).body())
        #expect(repeated.text.contains(message), "after a restart, the same answer: \(repeated.text)")
        let other = Retention.Request(3).with("originalTransactionId", #""2000""#)
        #expect(try await service.message(other).text == Retention.shown(5))
    }
}
