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

/// 40 customers who were exposed to the offer `half` on day 1. Every fourth is held out.
@Suite("The pages of reports")
struct ReportsPageTests {
    private static let yaml = """
        apps:
          - bundleID: com.example.app
            appAppleID: 1234567890
            products:
              - productID: monthly
                offers:
                  - plain
                  - {offerID: half, rule: leaving}
                  - {offerID: other, rule: {subscription: {status: expired}}}
        rules:
          leaving: {all: [{subscription: {status: active, autoRenew: off}}, {share: {of: 0.75, by: s}}]}
        """
    private static let offer = "app=com.example.app&product=monthly&offer=half"

    private static func console() async throws -> TestConsole {
        let console = try await TestConsole(yaml)
        for number in 1...40 as ClosedRange<UInt64> {
            try await console.store.add([
                .exposure(
                    Sample.production,
                    Sample.exposure(
                        of: Sample.account(number), number % 4 == 0 ? .heldOut : .offered, sample: "s", at: 1))
            ])
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

    @Test("the overview shows what became of the links of a campaign, and leads to the report of its mailing")
    func campaigns() async throws {
        let links = """
                appAppleID: 1234567890
                links:
                  teamID: ABCDE12345
                  name: Example
                  campaigns: [{name: spring, offer: {productID: monthly, offerID: half}}, {name: banner}]
            """
        let console = try await TestConsole(Self.yaml.replacing("    appAppleID: 1234567890", with: links))
        let sample = Sample.offer("half", nonces: [], expiresAt: 0)
        let mailing = Mailing(
            campaign: "spring", offer: Campaign.Offer(productID: sample.productID, offerID: sample.offerID), holdOut: 0,
            madeAt: Sample.day(1), expiresAt: Sample.day(11), rulesDigest: [])
        let made = try await console.store.make(mailing, for: (1...4).map(Sample.account), in: Sample.production)
        _ = try await console.store.claim(made[0], in: Sample.production, at: Sample.day(2))
        let visits = [
            LinkVisits(campaign: "spring", day: 1, isPersonal: true, count: 33),
            LinkVisits(campaign: "banner", day: 1, isPersonal: false, count: 44),
        ]
        try await console.store.addVisits(visits, in: Sample.production)
        let cookie = try await console.signIn(["marketing"])
        let page = await console.get("/reports", cookie: cookie).text
        let rows = page.split(separator: "<tr>").filter { $0.contains("spring") || $0.contains("banner") }.map { row in
            row.matches(of: /<span class="number">([0-9]+)<\/span>/).map { String($0.output.1) }
        }
        #expect(rows.suffix(2) == [["4", "0", "33", "1", "0"], ["0", "0", "0", "0", "44"]], "\(page)")
        await Self.makeReports(console)
        let report = await console.get("/reports/offer?\(Self.offer)&sample=link:spring", cookie: cookie)
        #expect(report.status == 200 && page.contains("sample=link%3Aspring"), "\(report.text)")
    }

    @Test("a page requests its report, shows the progress, and then the numbers with their age")
    func report() async throws {
        let console = try await Self.console()
        let cookie = try await console.signIn(["marketing"])
        var page = await console.get("/reports/offer?\(Self.offer)", cookie: cookie)
        #expect(page.status == 200 && page.text.contains("The report is being made."))
        #expect(page.values(of: "Refresh") == ["3"])
        #expect(await console.get("/reports/offer.csv?\(Self.offer)", cookie: cookie).status == 404)
        await Self.makeReports(console)
        page = await console.get("/reports/offer?\(Self.offer)", cookie: cookie)
        #expect(page.values(of: "Refresh").isEmpty && !page.text.contains("being made"))
        #expect(page.text.contains("Access by day"))
        #expect(page.text.contains("<dt>Sample</dt><dd><code><bdi>s</bdi></code></dd>"))
        console.setTime(console.now + .hours(2))
        let later = try await console.signIn(["marketing"])
        page = await console.get("/reports/offer?\(Self.offer)", cookie: later)
        #expect(page.text.contains("A newer report is being made.") && page.text.contains("(2 hours ago)"))
        #expect(page.values(of: "Refresh").isEmpty, "a page that somebody reads does not move")
    }

    @Test("the overview lists the offers with a rule, and the URL sorts them")
    func overview() async throws {
        let console = try await Self.console()
        let cookie = try await console.signIn(["marketing"])
        let first = await console.get("/reports", cookie: cookie)
        #expect(first.text.contains("being made") && !first.text.contains(">plain<"))
        await Self.makeReports(console)
        func places(_ sort: String) async throws -> [String] {
            let page = await console.get("/reports?sort=\(sort)", cookie: cookie).text
            let half = try #require(page.firstRange(of: "offer=half")).lowerBound
            let other = try #require(page.firstRange(of: "offer=other")).lowerBound
            return half < other ? ["half", "other"] : ["other", "half"]
        }
        #expect(try await places("exposed") == ["half", "other"])
        #expect(try await places("offer") == ["half", "other"])
        let page = await console.get("/reports?sort=exposed", cookie: cookie)
        #expect(page.text.contains(#"aria-sort="descending"><a href="/reports?sort=exposed">Exposed</a>"#))
        #expect(page.text.contains(#"<span class="number">40</span>"#) && page.text.contains("no exposures"))
        #expect(await console.get("/reports?sort=nothing", cookie: cookie).status == 404)
    }

    @Test("each table of a report can be downloaded alone")
    func download() async throws {
        let console = try await Self.console()
        let cookie = try await console.signIn(["marketing"])
        _ = await console.get("/reports/offer?\(Self.offer)", cookie: cookie)
        await Self.makeReports(console)
        func lines(_ query: String) async -> [Substring] {
            let csv = await console.get("/reports/offer.csv?\(Self.offer)\(query)", cookie: cookie)
            #expect(csv.values(of: "Content-Disposition") == [#"attachment; filename="report.csv""#])
            return csv.text.replacing("\r\n", with: "\n").split(separator: "\n")
        }
        let access = await lines("&table=access")
        #expect(access.count > 10 && access.dropFirst(12).allSatisfy { $0.hasPrefix("access,") })
        #expect(access[1] == "report,com.example.app,,bundle_id,,,,")
        #expect(await lines("").count > access.count)
        #expect(await console.get("/reports/offer.csv?\(Self.offer)&table=none", cookie: cookie).status == 404)
    }

    @Test("a person can have a report made again, with an audit line")
    func again() async throws {
        let console = try await Self.console()
        let cookie = try await console.signIn(["marketing"])
        _ = await console.get("/reports/offer?\(Self.offer)", cookie: cookie)
        await Self.makeReports(console)
        let answer = await console.post("/reports/refresh", "\(Self.offer)&sample=s", cookie: cookie)
        #expect(answer.status == 303 && answer.location == "/reports/offer?\(Self.offer)&sample=s")
        #expect(try console.auditLines().last?.contains(#""kind":"console_report""#) == true)
        #expect(try await console.store.keptReports().first?.requestedAt == console.now)
        let plain = "/reports/offer?\(Self.offer.replacing("half", with: "plain"))"
        #expect(await console.get(plain, cookie: cookie).status == 404)
        #expect(await console.post("/reports/refresh", "offer=none", cookie: cookie).status == 404)
    }

    @Test("cohorts can be weeks or months, in two time zones")
    func cohorts() async throws {
        let console = try await Self.console()
        let cookie = try await console.signIn(["marketing"])
        let pages = ["", "&cohorts=month", "&zone=pacific", "&cohorts=month&zone=pacific"].map {
            (report: "/reports/offer?\(Self.offer)&sample=s\($0)", overview: "/reports?by=cohort\($0)")
        }
        for page in pages {
            #expect(await console.get(page.report, cookie: cookie).text.contains("The report is being made."))
        }
        _ = await console.get("/reports?by=cohort&cohorts=month", cookie: cookie)
        await Self.makeReports(console)
        func starts(_ path: String) async -> Set<String> {
            let text = await console.get(path, cookie: cookie).text
            return Set(text.matches(of: /only=(20[0-9-]+)/).map { String($0.output.1) })
        }
        let (weeks, months) = (await starts("/reports?by=cohort"), await starts("/reports?by=cohort&cohorts=month"))
        #expect(weeks.count == 1 && months.count == 1 && weeks != months, "\(weeks) \(months)")
        #expect(months.allSatisfy { $0.hasSuffix("-01") })
        for (place, page) in pages.enumerated() {
            let text = await console.get(page.report, cookie: cookie).text
            #expect(text.contains("<b>\(place % 2 == 0 ? "Weeks" : "Months")</b>"), "\(page.report)")
            #expect(text.contains("<b>\(place < 2 ? "UTC" : "Pacific, as in Apple's reports")</b>"), "\(page.report)")
        }
        let answer = await console.post("/reports/refresh", "\(Self.offer)&sample=s&cohorts=month", cookie: cookie)
        #expect(answer.location == "/reports/offer?\(Self.offer)&sample=s&cohorts=month")
        for path in ["/reports?by=rule&cohorts=month", "/reports?zone=pacific", "/reports?by=cohort&cohorts=year"] {
            #expect(await console.get(path, cookie: cookie).status == 404, "\(path)")
        }
    }

    @Test("the page Offers leads marketing to the reports, and nobody else")
    func links() async throws {
        let console = try await Self.console()
        let link = #"<a href="/reports/offer?"#
        #expect(await console.get("/offers", cookie: try await console.signIn(["marketing"])).text.contains(link))
        #expect(await !console.get("/offers", cookie: try await console.signIn(["operator"])).text.contains(link))
    }

    @Test("the overview can be by storefront, channel and other parts, filtered and sorted by the URL")
    func parts() async throws {
        let console = try await Self.console()
        let cookie = try await console.signIn(["marketing"])
        #expect(await console.get("/reports?by=channel", cookie: cookie).text.contains("No report has such customers"))
        await Self.makeReports(console)
        // The cohort is not complete yet.
        #expect(await console.get("/reports?by=channel", cookie: cookie).text.contains("<td>0 and 0</td>"))
        let page = await console.get("/reports?by=cohort", cookie: cookie).text
        #expect(page.contains(#"<tr class="open">"#) && page.contains("<td>30 and 10</td>"), "\(page)")
        console.setTime(console.now + .days(30))
        let later = try await console.signIn(["marketing"])
        _ = await console.get("/reports?by=channel", cookie: later)
        await Self.makeReports(console)
        func get(_ query: String) async -> String { await console.get("/reports?\(query)", cookie: later).text }
        let channel = await get("by=channel")
        #expect(channel.contains(#"<td><a href="/reports?by=channel&amp;only=decision"><bdi>decision</bdi></a></td>"#))
        #expect(channel.contains("<td>30 and 10</td>"), "\(channel)")
        for part in ["rule", "storefront", "product", "cohort"] {
            #expect(await get("by=\(part)").contains("<td>30 and 10</td>"), "\(part)")
        }
        #expect(await get("by=channel&only=decision&sort=effect").contains("Only channel"))
        #expect(await get("by=channel&only=retention").contains("No report has such customers"))
        for query in ["by=moon", "by=channel&sort=signed", "only=decision"] {
            #expect(await console.get("/reports?\(query)", cookie: later).status == 404)
        }
    }
}
