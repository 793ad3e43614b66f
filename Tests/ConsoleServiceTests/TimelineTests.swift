import OfferCore
import OfferEligibility
import OfferHTTP
import StoreTestSupport
import SubscriberStore
import TestSupport
import Testing

@testable import ConsoleService
@testable import OfferConsole

@Suite("The timeline of a customer in the console")
struct TimelineTests {
    private static let configuration = TestConsole.configuration.replacing(
        "    products:", with: "    grants: {reasons: [goodwill, outage], dailyBudget: 0}\n    products:")

    private static let customer =
        "app=com.example.app&environment=Production&kind=originalTransactionID&id=9000000000001"

    private static func purchase(_ id: String, _ start: Double, _ change: (inout Purchase) -> Void = { _ in })
        -> SubscriberFact
    {
        Sample.transaction(id, of: "9000000000001", start, start + 3) {
            $0.appAccountToken = Sample.token(1)
            $0.appTransactionID = Sample.id("704100000001")
            change(&$0)
        }
    }

    private static func change(_ subtype: String, signed day: Double) -> SubscriberFact {
        let renewal = Renewal(productID: Sample.offer(nonces: [], expiresAt: 0).productID, autoRenewStatus: .off)
        return Sample.fact(
            .renewalChange(RenewalChange(type: "DID_CHANGE_RENEWAL_STATUS", subtype: subtype, renewal: renewal)),
            "c\(Int(day * 10))", of: "9000000000001", signed: day)
    }

    /// A customer to whom everything has happened that a timeline shows.
    private static func addLife(to store: SQLiteStore) async throws {
        let app = Sample.production
        let source = OfferSource(rule: "leaving", channel: .decision)
        let holders: [CustomerIdentifier] = [Sample.account(1), .appTransactionID(Sample.id("704100000001"))]
        try await store.merge(
            [
                purchase("9000000000001", 0),
                purchase("9000000000002", 3) {
                    $0.revocation = Revocation(date: Sample.day(4.5), reason: .other, percentage: 50_000)
                },
                Sample.status(2, of: "9000000000001", signed: 9.5),
                change("AUTO_RENEW_DISABLED", signed: 1), change("AUTO_RENEW_ENABLED", signed: 2),
            ], in: app)
        let original = Sample.id("9000000000001")
        let silent = RetentionShown(
            requestIdentifier: UUIDText(high: 0xEE, low: 3), subject: .subscription(original), answer: "unavailable",
            reason: "deadline", messageIdentifier: nil, productID: nil, offerID: nil, rule: nil, at: Sample.day(1.5))
        for shown in [Sample.shown(1, of: original), Sample.shown(2, of: original, offer: "stay"), silent] {
            try await store.record(shown, in: app)
        }
        let offer = Sample.offer("stay", nonces: [1], expiresAt: 6, source: source)
        _ = try await store.reserve(Sample.request([offer], by: holders, at: 5))
        let reports = [
            OfferEventReport(kind: .shown, offer: .signed(Sample.nonce(1)), at: Sample.day(5.1)),
            OfferEventReport(
                kind: .failed, offer: .named(Sample.account(1), offer.productID, offer.offerID), at: Sample.day(5.2),
                error: "=cmd()"),
        ]
        #expect(try await store.record(reports, of: app, onlyOf: nil).count == 2)
        try await store.merge(
            [purchase("9000000000003", 6) { $0.offer = AppliedOffer(type: .promotional, identifier: "stay") }], in: app)
        let heldOut = LedgerRequest.HeldOutOffer(
            productID: offer.productID, offerID: offer.offerID, limits: OfferLimits(), place: 0,
            exposures: [Sample.exposure(of: holders[1], .heldOut, "stay", sample: "half", at: 7)])
        _ = try await store.reserve(
            LedgerRequest(
                app: app, holders: holders, offers: [], reserving: .all, heldOut: [heldOut], at: Sample.day(7)))
        try await store.setTeamFacts(
            [Sample.text("ticket"): .bool(true)], of: Sample.account(1), in: app, at: Sample.day(8))
    }

    /// The lines of the table without the header, the oldest first.
    private static func lines(_ csv: String) -> [String] {
        csv.replacing("\r\n", with: "\n").split(separator: "\n").dropFirst().reversed().map(String.init)
    }

    @Test("everything that happened to a customer is in the timeline, in its order, and says who did it")
    func life() async throws {
        let console = try await TestConsole(Self.configuration)
        try await Self.addLife(to: console.store)
        let ada = try await console.signIn(["support"])
        let bob = try await console.signIn(["marketing"], name: "Bob")
        let order = Self.customer + "&product=monthly&offer=stay&reason=outage&days=14"
        #expect(await console.post("/grant", order, cookie: ada).status == 303)
        let grant = try #require(
            try await console.store.grants(in: Sample.production, .all, before: nil, limit: 9).first)
        console.setTime(Sample.day(10.01))
        #expect(await console.post("/grants/approve", "grant=\(grant.id)", cookie: bob).status == 303)
        console.setTime(Sample.day(10.02))
        #expect(await console.post("/grants/withdraw", "grant=\(grant.id)", cookie: ada).status == 303)
        let csv = await console.get("/customer.csv?\(Self.customer)&table=timeline", cookie: ada).text
        let message = "\(UUIDText(high: 1, low: 1))"
        let expected: [(Double, String, String)] = [
            (0, "Purchase", "monthly, transaction 9000000000001"),
            (1, "Auto-renew", "switched off (monthly)"),
            (1, "Shown", "the App Store was told to show the message \(message) before a cancellation, by the rule r"),
            (
                1, "Shown",
                "the App Store was told to show the offer stay for monthly before a cancellation, by the rule r"
            ),
            (1.5, "Shown", "the App Store was told to show no message before a cancellation (deadline)"),
            (2, "Auto-renew", "switched on (monthly)"),
            (3, "Renewal", "monthly, transaction 9000000000002"),
            (4.5, "Refund", "transaction 9000000000002, 50 % of the price"),
            (5, "Signed", "stay for monthly, by the rule leaving"),
            (5.1, "Shown", "the app reports stay for monthly as shown"),
            (5.2, "App", "the app reports stay for monthly as failed: =cmd()"),
            (6, "Renewal", "monthly with the offer stay (promotional), transaction 9000000000003"),
            (6, "Redeemed", "stay for monthly"),
            (7, "Refused", "stay held out by the sample half"),
            (8, "Data", "your backend set ticket to true"),
            (9, "End", "access to monthly ended"),
            (10, "Grant", "stay for monthly granted by Ada, reason outage, to be approved by a second person"),
            (10.01, "Grant", "stay for monthly approved by Bob"),
            (10.02, "Grant", "stay for monthly withdrawn by Ada"),
        ]
        func line(_ day: Double, _ kind: String, _ sentence: String) -> String {
            let quoted = sentence.contains(",") ? "\"\(sentence)\"" : sentence
            return "\(ConsoleClock.machineText(Sample.day(day))),\(kind),\(quoted)"
        }
        let lines = Self.lines(csv)
        // The order of entries of one time is free.
        #expect(lines.sorted() == expected.map(line).sorted())
        #expect(lines.map { $0.prefix { $0 != "," } } == expected.map { line($0.0, "", "").prefix { $0 != "," } })
        let page = await console.get("/customer?\(Self.customer)", cookie: ada).text
        for entry in expected { #expect(page.contains("<bdi>\(entry.2)</bdi>"), "\(entry.2)") }
        #expect(page.contains("<b>Grant</b>"))
    }

    @Test("another customer's messages and grants are not in the timeline")
    func others() async throws {
        let console = try await TestConsole(Self.configuration)
        try await Self.addLife(to: console.store)
        let other = Sample.transaction("9000000000009", of: "9000000000009", 0, 30)
        try await console.store.merge([other], in: Sample.production)
        try await console.store.record(Sample.shown(9, of: Sample.id("9000000000009")), in: Sample.production)
        let cookie = try await console.signIn(["support"])
        func timeline(_ id: String) async -> String {
            let customer = Self.customer.replacing("9000000000001", with: id)
            return await console.get("/customer.csv?\(customer)&table=timeline", cookie: cookie).text
        }
        let message = "\(UUIDText(high: 1, low: 9))"
        #expect(await timeline("9000000000009").contains(message))
        #expect(!(await timeline("9000000000001").contains(message)))
        #expect(Self.lines(await timeline("9000000000009")).count == 2)
    }
}
