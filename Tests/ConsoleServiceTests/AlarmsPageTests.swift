import OfferConfiguration
import OfferConsole
import OfferCore
import OfferEligibility
import OfferHTTP
import OfferService
import StoreTestSupport
import SubscriberStore
import SubscriberSync
import TestSupport
import Testing

@testable import ConsoleService

@Suite("Alarms and offers in the console")
struct AlarmsPageTests {
    /// A console whose ledger has one redemption without a signature.
    private static func console() async throws -> TestConsole {
        let console = try await TestConsole()
        let coverage = try #require(console.application.policy.snapshot.catalogue).ledgerCoverage
        try await console.store.beginLedger(coverage, at: Sample.day(0))
        let id = "9000000000001"
        try await console.store.merge([Sample.transaction(id, of: id, 0, 30)], in: Sample.production)
        let discounted = Sample.transaction("9000000000002", of: id, 5, 35) {
            $0.offer = AppliedOffer(type: .promotional, identifier: "stay")
        }
        try await console.store.merge([discounted], in: Sample.production)
        return console
    }

    @Test("an alarm is acknowledged once, with its person and cause, after its audit line")
    func acknowledge() async throws {
        let console = try await Self.console()
        let (ada, grace) = (
            try await console.signIn(["operator"], name: "Ada"), try await console.signIn(["operator"], name: "Grace")
        )
        let page = await console.get("/alarms", cookie: ada)
        let number = try #require(page.text.firstMatch(of: /name="number" value="(\d+)"/)).output.1
        #expect(await console.post("/alarms/acknowledge", "number=\(number)&note=+", cookie: ada).status == 400)
        #expect(await console.post("/alarms/acknowledge", "number=x&note=a", cookie: ada).status == 400)
        #expect(await console.post("/alarms/acknowledge", "number=99&note=a", cookie: ada).status == 400)
        let long = String(repeating: "%C3%A4", count: 501)
        #expect(await console.post("/alarms/acknowledge", "number=\(number)&note=\(long)", cookie: ada).status == 400)
        #expect(try console.auditLines().contains { $0.contains("console_alarm") } == false)
        let answers = await withTaskGroup(of: HTTPResponse.self) { group in
            for cookie in [ada, grace] {
                group.addTask {
                    await console.post("/alarms/acknowledge", "number=\(number)&note=our+old+server", cookie: cookie)
                }
            }
            return await group.reduce(into: []) { $0.append($1) }
        }
        #expect(answers.filter { $0.location == "/alarms" }.count == 1, "of two at once, one counts")
        let after = await console.get("/alarms", cookie: ada)
        #expect(after.text.contains("our old server") && !after.text.contains("name=\"number\""))
        #expect(
            try console.auditLines().contains {
                $0.contains(#""kind":"console_alarm""#) && $0.contains("\"alarm\":\(number)")
            })
        #expect(!after.text.contains("/customer?"), "an operator may not open customers")
    }

    @Test("the offers show their rule in words, their limits and their use")
    func offers() async throws {
        let console = try await Self.console()
        let cookie = try await console.signIn(["marketing"])
        let page = await console.get("/offers", cookie: cookie).text
        #expect(
            page.contains("The subscription&#39;s status is active")
                || page.contains("The subscription's status is active"))
        #expect(page.contains("once for each customer") && page.contains("1 of 500"))
        #expect(page.contains("No rule: for every authorised client."))
        let one = await console.get("/offers?app=com.example.app&product=monthly&offer=stay", cookie: cookie)
        #expect(one.status == 200 && one.text.contains("Activity of"))
        #expect(await console.get("/offers?offer=none", cookie: cookie).status == 404)
    }

    @Test("everybody sees their own activity, and an auditor sees that of all")
    func activity() async throws {
        let console = try await Self.console()
        let ada = try await console.signIn(["support"], name: "Ada")
        let grace = try await console.signIn(["auditor"], name: "Grace")
        _ = await console.get("/find?q=9000000000001", cookie: ada)
        let own = await console.get("/audit", cookie: ada).text
        #expect(own.contains("console_search") && !own.contains("Grace"))
        let all = await console.get("/audit", cookie: grace).text
        #expect(all.contains("console_search") && all.contains("Ada"))
        let filtered = await console.get("/audit?person=Grace&act=console_sign_in", cookie: grace).text
        #expect(filtered.contains("console_sign_in") && !filtered.contains(">Ada<"))
        #expect(await console.get("/audit?person=Grace", cookie: ada).text.contains("Grace</td>") == false)
    }
}
