import NIOConcurrencyHelpers
import OfferCore
import OfferCrypto
import OfferEligibility
import OfferHTTP
import StoreTestSupport
import SubscriberStore
import TestSupport
import Testing

@testable import OfferService

@Suite("The address of links serves pages that change nothing")
struct LinkPagesTests {
    private static func ask(_ links: LinkService, _ path: String, _ method: String = "GET") async -> HTTPResponse {
        let router = links.service.routes.application.router(for: .links, isOnLoopback: false)
        let request = HTTPRequest(method: method, target: path, host: "go.example.com")
        switch router.reply(to: request, shedding: .none) {
        case .now(let response): return response
        case .after(_, let response): return response(true)
        case .later(let work, _, _): return await work()()
        }
    }

    private static func header(_ name: String, of response: HTTPResponse) -> String? {
        response.headers.first { $0.name == name }?.value
    }

    private static func records(of links: LinkService) async throws -> [StoreRecord] {
        let records = NIOLockedValueBox<[StoreRecord]>([])
        try await links.service.store.forEachRecord { record throws(StoreError) in
            records.withLockedValue { $0.append(record) }
        }
        return records.withLockedValue { $0 }
    }

    @Test("the association file names the app and the paths of links, for caches")
    func association() async throws {
        let links = try LinkService()
        let response = await Self.ask(links, "/.well-known/apple-app-site-association")
        #expect(response.status == 200 && Self.header("Content-Type", of: response) == "application/json")
        #expect(Self.header("Cache-Control", of: response) == "public, max-age=3600")
        #expect(
            response.text
                == #"{"applinks":{"details":[{"appIDs":["ABCDE12345.com.example.app"],"components":[{"/":"/o/*"}]}]}}"#)
    }

    @Test("the page of a campaign, of a personal link, of one that ended and of none")
    func pages() async throws {
        let links = try LinkService()
        let account: UInt64 = 1
        let link = try await links.link(to: Sample.account(account))
        let path = String(link.dropFirst(LinkService.origin.count))
        let campaign = await Self.ask(links, "/o/spring")
        #expect(campaign.status == 200 && campaign.text.contains("<h1>Come back</h1>"))
        #expect(campaign.text.contains("https://apps.apple.com/app/id1234567890"))
        #expect(campaign.text.contains(#"content="app-id=1234567890, app-argument=https://go.example.com/o/spring""#))
        #expect(!campaign.text.contains("made for you"))
        for address in [
            path, path.replacing("~", with: "%7E"), path + "?utm=1", path.replacing("~", with: "%7e") + "?x",
        ] {
            let personal = await Self.ask(links, address)
            #expect(personal.status == 200 && personal.text.contains("made for you"), "\(address)")
        }
        links.service.setDay(11)
        let ended = await Self.ask(links, path)
        #expect(ended.status == 410 && ended.text.contains("has ended") && !ended.text.contains("Come back"))
        for address in ["/o/autumn", "/o/", "/o/~AAAA", "/o/Spring", "/o/<script>"] {
            let unknown = await Self.ask(links, address)
            #expect(unknown.status == 404 && unknown.text.contains("not valid"), "\(address)")
            #expect(!unknown.text.contains("script"))
        }
        for response in [campaign, ended] {
            #expect(
                Self.header("Content-Security-Policy", of: response)?.hasPrefix(
                    "default-src 'none'; style-src 'sha256-") == true)
            #expect(Self.header("Referrer-Policy", of: response) == "no-referrer")
            #expect(Self.header("Cache-Control", of: response) == "no-store")
            #expect(!response.text.contains("<script"))
        }
        #expect(await Self.ask(links, "/o/spring/more").status == 404)
        #expect(await Self.ask(links, "/o/spring", "POST").status == 405)
        #expect(await Self.ask(links, "/v1/decisions").status == 404, "the address serves nothing else")
        #expect(await Self.ask(links, "/metrics").status == 404)
    }

    @Test("10,000 visits by scanners change nothing but a count")
    func scanners() async throws {
        let links = try LinkService()
        let account: UInt64 = 1
        try await links.service.addSubscriber("1000", account: account)
        let link = try await links.link(to: Sample.account(account))
        let path = String(link.dropFirst(LinkService.origin.count))
        let before = try await Self.records(of: links)
        for number in 0..<10_000 {
            _ = await Self.ask(links, number % 2 == 0 ? path : "/o/spring", number % 3 == 0 ? "HEAD" : "GET")
        }
        #expect(try await Self.records(of: links) == before)
        await links.service.routes.application.linkVisits.write()
        let counts = try #require(try await links.service.store.linkCounts(in: Sample.production)["spring"])
        #expect(counts.claimed == 0 && counts.personalVisits + counts.campaignVisits == 6666)
        await links.service.routes.application.linkVisits.write()
        #expect(try await links.service.store.linkCounts(in: Sample.production)["spring"] == counts, "counted once")
        #expect(try await links.service.decide(#"\#(StoreService.token(account)),"sign":false"#).eligible == [])
    }
}
