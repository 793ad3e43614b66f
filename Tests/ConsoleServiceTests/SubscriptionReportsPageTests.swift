import Logging
import OfferCore
import OfferEligibility
import OfferHTTP
import OfferService
import StoreTestSupport
import SubscriberStore
import SubscriberSync
import Testing

@testable import ConsoleService

/// Three subscriptions, of which one has no storefront.
@Suite("The page of subscriptions")
struct SubscriptionReportsPageTests {
    private static func console() async throws -> TestConsole {
        let console = try await TestConsole()
        for (number, storefront) in [(1, "DEU"), (2, "USA"), (3, nil)] as [(Int, String?)] {
            try await console.store.merge(
                [Sample.transaction("\(number)", of: "\(number)", 0, 300) { $0.storefront = storefront }],
                in: Sample.production)
        }
        return console
    }

    private static func makeReports(_ console: TestConsole) async {
        let application = console.application
        await ReportWorker(
            application.store, policy: application.policy, background: BackgroundReading(), now: { console.now },
            metrics: application.metrics.sync, log: Logger(label: "test")
        ).round()
    }

    private static let page = "/reports/subscriptions?app=com.example.app"

    @Test("the page requests its report, and then shows all subscriptions or one group")
    func page() async throws {
        let console = try await Self.console()
        let cookie = try await console.signIn(["marketing"])
        let first = await console.get(Self.page, cookie: cookie)
        #expect(first.status == 200 && first.text.contains("The report is being made."), "\(first.text)")
        #expect(first.values(of: "Refresh") == ["3"])
        await Self.makeReports(console)
        let all = await console.get(Self.page, cookie: cookie)
        #expect(all.values(of: "Refresh").isEmpty && all.text.contains("<h2>All subscriptions</h2>"))
        #expect(all.text.contains("<th scope=\"row\"><a href=\"\(Self.page)&amp;zone=utc\">All</a></th><td>3</td>"))
        #expect(all.text.contains("by=storefront&amp;name=DEU"))
        let one = await console.get(Self.page + "&by=storefront&name=DEU", cookie: cookie)
        #expect(one.text.contains("<h2>Storefront: <bdi>DEU</bdi></h2>"))
        let unknown = await console.get(Self.page + "&by=storefront&name=", cookie: cookie)
        #expect(unknown.text.contains("<h2>Storefront: <bdi>unknown</bdi></h2>"))
        for query in ["&by=storefront&name=JPN", "&by=moon", "&zone=moon"] {
            #expect(await console.get(Self.page + query, cookie: cookie).status == 404, "\(query)")
        }
        #expect(await console.get("/reports/subscriptions?app=com.example.gone", cookie: cookie).status == 404)
    }

    @Test("the other time zone is another report")
    func zone() async throws {
        let console = try await Self.console()
        let cookie = try await console.signIn(["marketing"])
        _ = await console.get(Self.page, cookie: cookie)
        await Self.makeReports(console)
        let page = await console.get(Self.page, cookie: cookie).text
        #expect(page.contains("<b>UTC</b>") && page.contains("zone=pacific"))
        let other = await console.get(Self.page + "&zone=pacific", cookie: cookie).text
        #expect(other.contains("The report is being made.") && other.contains("zone=utc"))
    }

    @Test("tables can be downloaded, and a person can have the report made again")
    func acts() async throws {
        let console = try await Self.console()
        let cookie = try await console.signIn(["marketing"])
        let file = Self.page.replacing("subscriptions?", with: "subscriptions.csv?")
        #expect(await console.get(file, cookie: cookie).status == 404)
        await Self.makeReports(console)
        let csv = await console.get(file + "&table=now", cookie: cookie)
        #expect(csv.text.contains("now,storefront,unknown,,,active,1,,,"))
        #expect(csv.values(of: "Content-Disposition") == [#"attachment; filename="subscriptions.csv""#])
        #expect(await console.get(file + "&table=none", cookie: cookie).status == 404)
        let answer = await console.post(
            "/reports/subscriptions/refresh", "app=com.example.app&zone=utc", cookie: cookie)
        #expect(answer.status == 303 && answer.location == "\(Self.page)&zone=utc")
        #expect(try console.auditLines().last?.contains(#""kind":"console_report""#) == true)
        #expect(try await console.store.keptReports().first?.requestedAt == console.now)
    }
}
