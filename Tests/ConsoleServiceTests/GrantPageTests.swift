import OfferConsole
import OfferCore
import OfferEligibility
import OfferHTTP
import StoreTestSupport
import SubscriberStore
import TestSupport
import Testing

@testable import ConsoleService

@Suite("Grants in the console")
struct GrantPageTests {
    private static let configuration = TestConsole.configuration.replacing(
        "    products:", with: "    grants: {reasons: [goodwill, outage], dailyBudget: 1}\n    products:")

    private static let token = Sample.token(1).description
    private static let customer = "app=com.example.app&environment=Production&kind=appAccountToken&id="

    /// A console, and two subscribers whom the rule refuses, because they renew.
    private static func console(
        configuration: String = configuration, trail: String? = nil
    ) async throws -> TestConsole {
        let console = try await TestConsole(configuration, trail: trail)
        for number in 1...2 as ClosedRange<UInt64> {
            let id = "900000000000\(number)"
            let transaction = Sample.transaction(id, of: id, 0, 30) {
                $0.ownership = .purchased
                $0.appAccountToken = Sample.token(number)
                $0.appTransactionID = Sample.id("70410000000\(number)")
            }
            let renewal = Sample.renewal(of: id, signed: 1) {
                $0 = Renewal(productID: $0.productID, autoRenewStatus: .on)
                $0.autoRenewProductID = $0.productID
            }
            try await console.store.merge([transaction, renewal], in: Sample.production)
        }
        return console
    }

    private static func form(_ number: UInt64 = 1, _ more: String = "&reason=goodwill&days=14") -> String {
        customer + Sample.token(number).description + "&product=monthly&offer=stay" + more
    }

    private static func grants(_ console: TestConsole) async throws -> [OfferGrant] {
        try await console.store.grants(in: Sample.production, .all, before: nil, limit: 9)
    }

    @Test("from a customer to a granted offer: the form says what the grant replaces and what still holds")
    func grant() async throws {
        let console = try await Self.console()
        let cookie = try await console.signIn(["support"])
        let page = await console.get("/customer?" + Self.customer + Self.token, cookie: cookie)
        #expect(page.text.contains("0 of 1 offer can be redeemed now") && page.text.contains("/grant?app="))
        let form = await console.get("/grant?" + Self.form(1, ""), cookie: cookie)
        #expect(form.status == 200, "\(form.text)")
        for text in [
            "status is active", "once for each customer", "the limit of 500 for all customers",
            "With the grant, the customer can redeem the offer now", "1 more grant today", ">outage<",
        ] {
            #expect(form.text.contains(text), "\(text): \(form.text)")
        }
        #expect(!form.text.contains("technical") && !form.text.contains("Lift the limits"))
        let sent = await console.post(
            "/grant", Self.form(1, "&reason=outage&days=3&note=%3Cb%3Ethe+outage&ticket=T-9"), cookie: cookie)
        #expect(sent.status == 303, "\(sent.text)")
        let grant = try #require(await Self.grants(console).first)
        #expect(grant.purpose == OfferGrant.Purpose(reason: "outage", note: "<b>the outage", ticket: "T-9"))
        #expect(grant.expiresAt == console.now + .hours(72) && grant.maker.name == "Ada" && !grant.liftsLimits)
        let after = await console.get(try #require(sent.location), cookie: cookie)
        #expect(
            after.text.contains("1 of 1 offer can be redeemed now")
                && after.text.contains("by the rule <bdi>grant</bdi>"))
        #expect(after.text.contains("&lt;b&gt;the outage") && !after.text.contains("<b>the outage"))
        let other = await console.get("/customer?" + Self.customer + Sample.token(2).description, cookie: cookie)
        #expect(other.text.contains("0 of 1 offer can be redeemed now"), "another customer")
        let again = await console.post("/grant", Self.form(), cookie: cookie)
        #expect(again.status == 400 && again.text.contains("already has a grant"), "\(again.text)")
        let line = try #require(console.auditLines().first { $0.contains("console_grant") })
        #expect(line.contains("Ada") && line.contains(#""reason":"outage""#) && line.contains(#""offerID":"stay""#))
        #expect(try !console.auditLines().contains { $0.contains("the outage") })
        let withdrawn = await console.post(
            "/grants/withdraw", Self.customer + Self.token + "&grant=\(grant.id)", cookie: cookie)
        #expect(withdrawn.status == 303 && withdrawn.location?.hasPrefix("/customer?") == true, "\(withdrawn.text)")
        #expect(try await Self.grants(console).first?.withdrawal?.person.name == "Ada")
    }

    @Test("above the budget, the person who asks cannot approve, and another one can")
    func approval() async throws {
        let console = try await Self.console()
        let ada = try await console.signIn(["support"])
        _ = await console.post("/grant", Self.form(1), cookie: ada)
        let form = await console.get("/grant?" + Self.form(2, ""), cookie: ada)
        #expect(form.text.contains("another person must approve this grant"))
        _ = await console.post("/grant", Self.form(2), cookie: ada)
        let waiting = try #require(await Self.grants(console).first { $0.approval == .needed })
        let own = await console.get("/grants", cookie: ada)
        #expect(own.text.contains("Another person must approve it."), "\(own.text)")
        let refused = await console.post("/grants/approve", "grant=\(waiting.id)", cookie: ada)
        #expect(refused.status == 400 && refused.text.contains("Another person must do so"), "\(refused.text)")
        let bob = try await console.signIn(["marketing"], name: "Bob")
        #expect(await console.get("/grants", cookie: bob).text.contains("/grants/approve"))
        let approved = await console.post("/grants/approve", "grant=\(waiting.id)", cookie: bob)
        #expect(approved.status == 303 && approved.location == "/grants", "\(approved.text)")
        #expect(try await console.store.grant(waiting.id)?.grant.approval != .needed)
        func lines() throws -> [String] { try console.auditLines().filter { $0.contains("console_grant_approved") } }
        try await waitUntil { try lines().count == 3 }
        let outcomes = try lines().map { line in (line.contains("Bob"), line.contains(#""outcome":"accepted""#)) }
        #expect(outcomes.count { $0.0 } == 1, "Ada's was accepted and then refused, and Bob's accepted")
        #expect(outcomes.count { $0.1 } == 2)
    }

    @Test("only a person of marketing too may lift the limits of the customer")
    func limits() async throws {
        let console = try await Self.console()
        let support = try await console.signIn(["support"])
        let refused = await console.post(
            "/grant", Self.form(1, "&reason=goodwill&days=1&liftsLimits=yes"), cookie: support)
        #expect(refused.status == 403)
        #expect(try await Self.grants(console) == [])
        let both = try await console.signIn(["support", "marketing"], name: "Bob")
        #expect(await console.get("/grant?" + Self.form(1, ""), cookie: both).text.contains("Lift the limits"))
        let made = await console.post("/grant", Self.form(1, "&reason=goodwill&days=1&liftsLimits=yes"), cookie: both)
        #expect(made.status == 303)
        #expect(try await Self.grants(console).map(\.liftsLimits) == [true])
    }

    @Test(
        "a form with nonsense changes nothing and says why",
        arguments: [
            "&reason=goodwill&days=0", "&reason=goodwill&days=367", "&reason=goodwill&days=x", "&reason=whim&days=1",
            "&reason=goodwill&days=1&note=" + String(repeating: "x", count: 1001),
        ])
    func nonsense(more: String) async throws {
        let console = try await Self.console()
        let cookie = try await console.signIn(["support"])
        let answer = await console.post("/grant", Self.form(1, more), cookie: cookie)
        #expect(answer.status == 400 && answer.text.contains("The offer was not granted."), "\(answer.text)")
        #expect(try await Self.grants(console) == [])
        #expect(try !console.auditLines().contains { $0.contains("console_grant") })
        #expect(try console.auditLines().contains { $0.contains("console_customer") }, "the form shows the customer")
    }

    @Test("only a person who may open customers sees notes and tickets in the list, and the trail says so")
    func list() async throws {
        let console = try await Self.console()
        let ada = try await console.signIn(["support"])
        _ = await console.post(
            "/grant", Self.form(1, "&reason=goodwill&days=3&note=broken+leg&ticket=T-9"), cookie: ada)
        let own = await console.get("/grants", cookie: ada)
        #expect(own.text.contains("broken leg") && own.text.contains("T-9") && own.text.contains("/customer?"))
        func lines() throws -> [String] { try console.auditLines().filter { $0.contains(#""console_grants""#) } }
        #expect(try lines().count == 1)
        let bob = try await console.signIn(["marketing"], name: "Bob")
        let other = await console.get("/grants", cookie: bob)
        #expect(other.status == 200 && other.text.contains("goodwill") && other.text.contains("Ada"))
        for personal in ["broken leg", "T-9", "/customer?"] { #expect(!other.text.contains(personal)) }
        #expect(try lines().count == 1, "Bob has seen nobody")
    }

    @Test("a lifetime that is no whole number of days is rounded up in the form")
    func days() async throws {
        let hours = Self.configuration.replacing("dailyBudget: 1}", with: "dailyBudget: 1, expiresIn: 12h}")
        let console = try await Self.console(configuration: hours)
        let form = await console.get("/grant?" + Self.form(1, ""), cookie: try await console.signIn(["support"]))
        #expect(form.text.contains(#"name="days" value="1""#), "\(form.text)")
    }

    @Test("without an audit trail that can be written, nothing is granted")
    func notAudited() async throws {
        let console = try await Self.console(trail: "/dev/full")
        let cookie = try await console.begin(["support"])
        let answer = await console.post("/grant", Self.form(), cookie: cookie)
        #expect(answer.status == 503, "\(answer.text)")
        #expect(try await Self.grants(console) == [])
    }

    @Test("two agents who grant at once: one grant")
    func race() async throws {
        let console = try await Self.console()
        let cookies = [try await console.signIn(["support"]), try await console.signIn(["support"], name: "Bob")]
        let statuses = await withTaskGroup(of: Int.self) { group in
            for number in 0..<6 {
                group.addTask { await console.post("/grant", Self.form(), cookie: cookies[number % 2]).status }
            }
            return await group.reduce(into: []) { $0.append($1) }
        }
        #expect(statuses.sorted() == [303, 400, 400, 400, 400, 400])
        #expect(try await Self.grants(console).count == 1)
    }
}
