import OfferCore
import OfferEligibility
import OfferHTTP
import StoreTestSupport
import SubscriberStore
import Testing

@testable import ConsoleService

@Suite("Tables of the console as CSV")
struct DownloadTests {
    @Test("the numbers of each day can be downloaded")
    func offers() async throws {
        let console = try await TestConsole()
        let cookie = try await console.signIn(["marketing"])
        let csv = await console.get("/offers.csv", cookie: cookie)
        #expect(csv.values(of: "Content-Disposition") == [#"attachment; filename="offers.csv""#])
        let lines = csv.text.replacing("\r\n", with: "\n").split(separator: "\n")
        #expect(lines.first == "day,signed,redeemed" && lines.count == 29)
        #expect(
            await console.get("/offers.csv?app=com.example.app&product=monthly&offer=stay", cookie: cookie).status
                == 200)
        #expect(
            await console.get("/offers.csv?app=com.example.app&product=monthly&offer=none", cookie: cookie).status
                == 404)
    }

    @Test("a customer's tables can be downloaded, each time with an audit line, and their texts are no formulas")
    func customer() async throws {
        let console = try await TestConsole()
        let id = "9000000000001"
        let transaction = Sample.transaction(id, of: id, 0, 30) {
            $0.ownership = .purchased
            $0.appAccountToken = Sample.token(1)
        }
        try await console.store.merge([transaction], in: Sample.production)
        let discounted = Sample.transaction("9000000000002", of: id, 5, 35) {
            $0.ownership = .purchased
            $0.appAccountToken = Sample.token(1)
            $0.offer = AppliedOffer(type: .promotional, identifier: "=1+1")
        }
        try await console.store.merge([discounted], in: Sample.production)
        let cookie = try await console.signIn(["support"])
        let customer = "app=com.example.app&environment=Production&kind=originalTransactionID&id=\(id)"
        let page = await console.get("/customer?\(customer)", cookie: cookie)
        for table in ["periods", "timeline", "ledger"] {
            #expect(
                page.text.contains("/customer.csv?\(customer)&table=\(table)".replacing("&", with: "&amp;")), "\(table)"
            )
            let before = try console.auditLines().count
            let csv = await console.get("/customer.csv?\(customer)&table=\(table)", cookie: cookie)
            #expect(
                csv.status == 200 && csv.values(of: "Content-Disposition") == ["attachment; filename=\"\(table).csv\""])
            #expect(csv.text.contains("=1+1"), "\(table)")
            #expect(!csv.text.contains(",=1+1") && !csv.text.contains("\n=1+1"), "\(table)")
            let lines = try console.auditLines()
            #expect(lines.count == before + 1 && lines.last?.contains("console_customer") == true)
        }
        #expect(await console.get("/customer.csv?\(customer)&table=facts", cookie: cookie).status == 404)
        let elsewhere = await console.respond(
            HTTPRequest(
                method: "GET", target: "/customer.csv?\(customer)&table=ledger", host: "console.example",
                browser: BrowserHeaders(cookies: [cookie], fetchSite: "cross-site")))
        #expect(
            elsewhere.values(of: "Content-Type") == ["text/html; charset=utf-8"], "a link of another site opens nothing"
        )
    }
}
