import NIOConcurrencyHelpers
import OfferCore
import OfferEligibility
import OfferHTTP
import StoreTestSupport
import SubscriberStore
import SubscriberSync
import TestSupport
import Testing

@testable import OfferService

/// 40 customers who were exposed to the offer `half` on day 1. Every fourth is held out.
@Suite("GET /v1/reports/offers")
struct ReportRouteTests {
    private static let offers = """
        plain, {offerID: half, rule: {all: [{subscription: {status: expired}}, {share: {of: 0.75, by: s}}]}}, \
        {offerID: two, rule: {all: [{share: {of: 0.5, by: a}}, {share: {of: 0.5, by: b}}]}}
        """
    static let half = "bundleID=com.example.app&productID=monthly&offerID=half"

    static func service(callers: [Caller] = []) async throws -> StoreService {
        let service = try StoreService(
            offers, app: "appAppleID: 1234567890\n    track: [episodes]", callers: callers)
        try await service.store.add(
            (1...40 as ClosedRange<UInt64>).map { number in
                .exposure(
                    Sample.production,
                    Sample.exposure(
                        of: Sample.account(number), number % 4 == 0 ? .heldOut : .offered, sample: "s", at: 1))
            })
        return service
    }

    private static func get(_ service: StoreService, _ query: String, token: String? = nil) async -> HTTPResponse {
        await service.routes.respondLater(
            HTTPRequest(
                method: "GET", target: "/v1/reports/offers?\(query)", authorization: token.map { "Bearer \($0)" }))
    }

    static func makeReports(_ service: StoreService) async {
        let routes = service.routes
        await ReportWorker(
            service.current, policy: routes.policy, background: BackgroundReading(),
            now: { routes.wall.withLockedValue { $0 } }, metrics: routes.metrics.sync, log: routes.log.logger
        ).round()
    }

    @Test("the first answers are 202 with the progress, and the later ones the kept report in each format")
    func story() async throws {
        let service = try await Self.service()
        for _ in 0..<2 {
            let waiting = await Self.get(service, Self.half)
            #expect(waiting.status == 202 && waiting.retryAfter == 5, "\(waiting.text)")
            #expect(waiting.json["state"] as? String == "waiting" && waiting.json["customersRead"] as? Int == 0)
        }
        await Self.makeReports(service)
        let report = await Self.get(service, Self.half)
        #expect(report.status == 200 && report.mediaType == .json)
        #expect(report.json["asOf"] as? Int64 == Sample.day(10).milliseconds)
        let exposed = (report.json["funnel"] as? [String: Any])?["exposed"] as? [String: Int]
        #expect(exposed == ["offered": 30, "heldOut": 10])
        let csv = await Self.get(service, Self.half + "&format=csv&sample=s")
        #expect(csv.mediaType == .csv && csv.text.contains("funnel,,offered,exposed,30,,,\r\n"))
        let html = await Self.get(service, Self.half + "&format=html")
        #expect(html.mediaType == .html && html.text.hasPrefix("<!doctype html>"))
    }

    @Test("a report older than an hour is shown while a newer one is made, and a younger one is not made again")
    func age() async throws {
        let service = try await Self.service()
        _ = await Self.get(service, Self.half)
        await Self.makeReports(service)
        func isWaiting() async throws -> Bool { try await service.store.keptReports().first?.requestedAt != nil }
        service.routes.setTime(Sample.day(10) + .seconds(3599))
        #expect(await Self.get(service, Self.half).status == 200)
        #expect(try await !isWaiting())
        service.routes.setTime(Sample.day(10) + .hours(1))
        let old = await Self.get(service, Self.half)
        #expect(old.json["asOf"] as? Int64 == Sample.day(10).milliseconds)
        #expect(try await isWaiting())
        await Self.makeReports(service)
        let new = await Self.get(service, Self.half)
        #expect(new.json["asOf"] as? Int64 == (Sample.day(10) + .hours(1)).milliseconds)
    }

    @Test("a report about an earlier time is another report")
    func asOf() async throws {
        let service = try await Self.service()
        let query = Self.half + "&asOf=\(Sample.day(0.5).milliseconds)"
        #expect(await Self.get(service, query).status == 202)
        await Self.makeReports(service)
        let report = await Self.get(service, query)
        #expect(report.json["asOf"] as? Int64 == Sample.day(0.5).milliseconds)
        let exposed = (report.json["funnel"] as? [String: Any])?["exposed"] as? [String: Int]
        #expect(exposed == ["offered": 0, "heldOut": 0])
        #expect(await Self.get(service, Self.half).status == 202)
    }

    @Test("a report with months or in Pacific time is another report")
    func cohorts() async throws {
        let service = try await Self.service()
        let queries = ["", "&cohorts=month", "&timeZone=pacific"].map { Self.half + $0 }
        for query in queries { #expect(await Self.get(service, query).status == 202) }
        await Self.makeReports(service)
        var starts: [String?] = []
        for query in queries {
            let report = await Self.get(service, query)
            let settings = report.json["settings"] as? [String: Any]
            let span = query.contains("cohorts=month") ? "month" : "week"
            #expect(settings?["cohorts"] as? String == span, "\(report.text)")
            #expect(settings?["timeZone"] as? String == (query.contains("pacific") ? "pacific" : "utc"))
            starts.append((report.json["cohorts"] as? [[String: Any]])?.first?["start"] as? String)
        }
        #expect(starts[0] != starts[1] && starts[1]?.hasSuffix("-01") == true)
        #expect(try await service.store.keptReports().count == 3)
    }

    @Test(
        "a query that names no report is refused, and the refusal says why",
        arguments: [
            ("bundleID=com.example.app&productID=monthly", 400, "missing_field", "offerID"),
            ("bundleID=com.example.app&productID=monthly&offerID=plain", 404, "unknown_offer", "offerID"),
            ("bundleID=com.example.app&productID=yearly&offerID=half", 404, "unknown_offer", "offerID"),
            ("bundleID=com.example.app&productID=monthly&offerID=two", 400, "invalid_field", "sample"),
            (half + "&sample=t", 400, "invalid_field", "sample"),
            (half + "&asOf=yesterday", 400, "invalid_field", "asOf"),
            (half + "&asOf=9999999999999", 400, "invalid_field", "asOf"),
            (half + "&format=pdf", 400, "invalid_field", "format"),
            (half + "&environment=Moon", 400, "invalid_field", "environment"),
            (half + "&cohorts=year", 400, "invalid_field", "cohorts"),
            (half + "&timeZone=mars", 400, "invalid_field", "timeZone"),
            (half + "&cohort=week", 400, "unknown_field", "cohort"),
            ("bundleID=com.example.other&productID=monthly&offerID=half", 403, "app_not_served", nil),
        ])
    func refusals(query: String, status: Int, code: String, field: String?) async throws {
        let service = try await Self.service()
        let answer = await Self.get(service, query)
        #expect(answer.status == status && answer.json["code"] as? String == code, "\(answer.text)")
        #expect(answer.json["field"] as? String == field)
        #expect(try await service.store.keptReports().isEmpty)
    }

    @Test("a failure is told, without another attempt for five minutes")
    func failure() async throws {
        let service = try await Self.service()
        _ = await Self.get(service, Self.half)
        let subject = try #require(try await service.store.keptReports().first).subject
        try await service.store.settleReport(subject, result: nil, at: Sample.day(10))
        let answer = await Self.get(service, Self.half)
        #expect(answer.status == 503 && answer.json["code"] as? String == "report_failed")
        #expect(answer.retryAfter == 300)
        #expect(try await service.store.keptReports().first?.requestedAt == nil)
        service.routes.setTime(Sample.day(10) + .seconds(300))
        #expect(await Self.get(service, Self.half).status == 202)
    }

    @Test("a result that another version wrote counts as none")
    func otherVersion() async throws {
        let service = try await Self.service()
        _ = await Self.get(service, Self.half)
        let subject = try #require(try await service.store.keptReports().first).subject
        try await service.store.settleReport(subject, result: Array("{}".utf8), at: Sample.day(10))
        #expect(await Self.get(service, Self.half).status == 202)
        await Self.makeReports(service)
        #expect(await Self.get(service, Self.half).status == 200)
    }

    @Test("the scope reports is needed")
    func scope() async throws {
        let service = try await Self.service(callers: [.test("bi", [.reports]), .test("app", [.sign])])
        #expect(await Self.get(service, Self.half, token: "token-of-bi").status == 202)
        let refused = await Self.get(service, Self.half, token: "token-of-app")
        #expect(refused.status == 403 && refused.json["code"] as? String == "scope_missing")
    }

    @Test("the report about subscriptions is kept in the same way, one for each time zone")
    func subscriptions() async throws {
        let service = try await Self.service(callers: [.test("bi", [.reports]), .test("app", [.sign])])
        for number in 1...3 {
            try await service.store.merge(
                [Sample.transaction("\(number)", of: "\(number)", 0, 30)], in: Sample.production)
        }
        func get(_ query: String, token: String = "token-of-bi") async -> HTTPResponse {
            await service.routes.respondLater(
                HTTPRequest(
                    method: "GET", target: "/v1/reports/subscriptions?bundleID=com.example.app\(query)",
                    authorization: "Bearer \(token)"))
        }
        let waiting = await get("")
        #expect(waiting.status == 202 && waiting.json["subscriptionsRead"] as? Int == 0, "\(waiting.text)")
        await Self.makeReports(service)
        let report = await get("&timeZone=utc")
        let groups = report.json["groups"] as? [[String: Any]]
        #expect((groups?.first?["now"] as? [String: Any])?["active"] as? Int == 3, "\(report.text)")
        #expect(await get("&format=csv").text.contains("now,all,all,,,active,3,,,\r\n"))
        #expect(await get("&format=html").text.hasPrefix("<!doctype html>"))
        #expect(await get("&timeZone=pacific").status == 202)
        #expect(await get("&timeZone=mars").json["field"] as? String == "timeZone")
        #expect(await get("&offerID=half").json["code"] as? String == "unknown_field")
        #expect(await get("&asOf=9999999999999").json["field"] as? String == "asOf")
        #expect(await get("", token: "token-of-app").json["code"] as? String == "scope_missing")
    }
}
