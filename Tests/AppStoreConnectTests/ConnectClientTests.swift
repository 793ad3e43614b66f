import AppStoreConnect
import AppStoreStandIn
import Foundation
import OfferCore
import OfferEligibility
import TestSupport
import Testing

@Suite("The client of App Store Connect")
struct ConnectClientTests {
    @Test("reads an app over TLS with a team key and with an individual key", arguments: [false, true])
    func keys(isIndividual: Bool) async throws {
        let fixture = try await ConnectFixture(isIndividual: isIndividual)
        let listing = try await fixture.withClient { try await fixture.read($0) }
        #expect(listing.appAppleID == 1_234_567_890 && listing.groups.map(\.id) == ["21012345", "21067890"])
        #expect(listing.products.count == 4 && listing.unreadableCount == 0 && listing.isComplete)
        let monthly = try #require(listing.products.first { $0.productID.text.description.hasSuffix("pro.monthly") })
        #expect(monthly.displayName == "Pro" && monthly.level == 1 && monthly.state == .approved)
        #expect(
            monthly.period == .oneMonth && monthly.winBackOffers == ["winback_asc"]
                && monthly.introductoryOfferCount == 3)
        #expect(monthly.priceByCurrency.mapValues(\.amount) == ["USD": "9.99", "EUR": "10.99"])
        let offer = try #require(monthly.offers.first)
        #expect(offer.mode == .payAsYouGo && offer.duration == .oneMonth && offer.numberOfPeriods == 3)
        #expect(offer.billingPlan == .billedUpFront && offer.prices?["DEU"]?.text == "5.49 EUR")
        #expect(fixture.standIn.seen.allSatisfy { $0.method == "GET" })
    }

    @Test("pages and sparse answers lead to the same listing", arguments: [(1, false), (2, true), (200, true)])
    func pages(size: Int, isSparse: Bool) async throws {
        let plain = try await ConnectFixture()
        let expected = try await plain.withClient { try await plain.read($0) }
        let fixture = try await ConnectFixture()
        fixture.standIn.setPageSize(size)
        fixture.standIn.setSparse(isSparse)
        let listing = try await fixture.withClient { try await fixture.read($0) }
        #expect(listing.groups == expected.groups && listing.unreadableCount == 0)
        for (one, other) in zip(listing.products, expected.products) {
            #expect(
                one.offers == other.offers && one.prices == other.prices && one.winBackOffers == other.winBackOffers)
            #expect(one.hasAllOffers)
        }
    }

    @Test("an odd entry spoils nothing else")
    func oddEntries() async throws {
        let plain = try await ConnectFixture()
        let expected = try await plain.withClient { try await plain.read($0) }
        let fixture = try await ConnectFixture()
        fixture.standIn.setOddEntries([
            "null", "3", #""text""#, "[]", "{}", #"{"type":"subscriptions"}"#, #"{"type":"subscriptions","id":7}"#,
            #"{"type":"subscriptions","id":"x","attributes":[]}"#,
            #"{"type":"subscriptionPromotionalOffers","id":"y","attributes":{"offerCode":5}}"#,
        ])
        let listing = try await fixture.withClient { try await fixture.read($0) }
        #expect(listing.unreadableCount > 0 && !listing.isComplete)
        #expect(listing.products.map(\.productID) == expected.products.map(\.productID))
        #expect(listing.products.map { $0.offers.map(\.offerID) } == expected.products.map { $0.offers.map(\.offerID) })
        #expect(listing.products.map(\.prices) == expected.products.map(\.prices))
    }

    @Test(
        "the token reaches no other host, whatever the link to the next page says",
        arguments: ["https://127.0.0.1:1", "https://evil.example", "//evil.example", "https://user@evil.example"])
    func otherHosts(base: String) async throws {
        let fixture = try await ConnectFixture()
        let (evil, expected) = (try await ConnectFixture(), try await ConnectFixture())
        fixture.standIn.setPageSize(1)
        fixture.standIn.setLinkBase(base == "https://127.0.0.1:1" ? evil.standIn.url : base)
        let listing = try await fixture.withClient { try await fixture.read($0) }
        let whole = try await expected.withClient { try await expected.read($0) }
        #expect(listing.products.map(\.productID) == whole.products.map(\.productID))
        #expect(evil.standIn.seen.isEmpty)
        await evil.standIn.stop()
    }

    @Test("a redirect is not followed")
    func redirect() async throws {
        let (fixture, evil) = (try await ConnectFixture(), try await ConnectFixture())
        fixture.standIn.add(.redirect(evil.standIn.url + "/v1/apps"))
        let failure = await failure(fixture)
        guard case .status(302)? = failure else {
            Issue.record("\(String(describing: failure))")
            return
        }
        #expect(evil.standIn.seen.isEmpty)
        await evil.standIn.stop()
    }

    @Test("401 renews the token once, and names a wrong clock")
    func unauthorised() async throws {
        let once = try await ConnectFixture()
        once.standIn.add(.status(401))
        _ = try await once.withClient { try await once.read($0) }
        #expect(once.outcomes.prefix(2) == ["unauthorised", "success"])
        let fixture = try await ConnectFixture()
        fixture.standIn.add(.clock(-600), .clock(-600))
        let failure = await failure(fixture)
        #expect(failure?.diagnostic.error.contains("clock is 600 s ahead") == true)
        #expect(failure?.diagnostic.hint.contains("clock") == true)
    }

    @Test(
        "403 tells a missing agreement from a role that is too small",
        arguments: [
            ("FORBIDDEN.REQUIRED_AGREEMENTS_MISSING_OR_EXPIRED", "agreement_missing"), ("FORBIDDEN_ERROR", "forbidden"),
        ])
    func forbidden(code: String, name: String) async throws {
        let fixture = try await ConnectFixture()
        fixture.standIn.add(.forbidden(code))
        #expect(await failure(fixture)?.name == name)
        #expect(fixture.standIn.seen.count == 1)
    }

    @Test("429 waits as long as Retry-After says, and otherwise a minute, then longer")
    func tooMany() async throws {
        let fixture = try await ConnectFixture()
        let date = AppStoreStandIn.httpDate(fixture.now.milliseconds + 7_000 + 127_000 + 180_000)
        fixture.standIn.add(
            .limited(["Retry-After": "7"]), .limited([:]), .limited(["Retry-After": date]),
            .limited(["Retry-After": "nonsense"]))
        _ = try await fixture.withClient { try await fixture.read($0) }
        let waits = fixture.waits
        #expect(waits.count == 4 && waits[0] == .seconds(7) && waits[1] == .seconds(120))
        #expect(waits[2] > .seconds(180) && waits[2] <= .seconds(188))
        #expect(waits[3] == .seconds(480))
    }

    @Test("a client without patience reports the limit instead of waiting")
    func impatient() async throws {
        let fixture = try await ConnectFixture()
        fixture.standIn.add(.limited(["Retry-After": "3000"]))
        let failure = await failure(fixture, patience: .seconds(30))
        guard case .limited(let time)? = failure else {
            Issue.record("\(String(describing: failure))")
            return
        }
        #expect(time - fixture.now == .seconds(3000) && fixture.waits.isEmpty)
    }

    @Test("a gateway's HTML and a slow page are repeated")
    func gateway() async throws {
        let fixture = try await ConnectFixture()
        fixture.standIn.add(.html(status: 502), .silence, .html(status: 503))
        _ = try await fixture.withClient(hurried: 2) { try await fixture.read($0) }
        #expect(fixture.outcomes.prefix(4) == ["http_status", "timed_out", "http_status", "success"])
        #expect(fixture.waits == [.milliseconds(250), .milliseconds(500), .seconds(1)])
    }

    @Test("HTML with the status 200 is unreadable, and is not repeated")
    func html() async throws {
        let fixture = try await ConnectFixture()
        fixture.standIn.add(.html(status: 200))
        #expect(await failure(fixture)?.name == "unreadable")
        #expect(fixture.standIn.seen.count == 1)
    }

    @Test("one request is under way at a time, even if several lists are read at once")
    func oneAtATime() async throws {
        let fixture = try await ConnectFixture()
        fixture.standIn.add(.delay(milliseconds: 50), .delay(milliseconds: 50), .delay(milliseconds: 50))
        try await fixture.withClient { client in
            try await withThrowingTaskGroup(of: AppListing.self) { group in
                for _ in 0..<4 { group.addTask { try await fixture.read(client) } }
                for try await listing in group { #expect(listing.products.count == 4) }
            }
        }
        #expect(fixture.standIn.mostConcurrent == 1)
    }

    @Test("50 products with 5 offers each take at most 400 calls, below a tenth of the limit in any hour")
    func budget() async throws {
        let fixture = try await ConnectFixture(Self.large)
        fixture.standIn.setHeaders(["X-Rate-Limit": "user-hour-lim:3500;user-hour-rem:3000;"])
        let listing = try await fixture.withClient { try await fixture.read($0) }
        #expect(listing.products.count == 50 && listing.products.allSatisfy { $0.offers.count == 5 })
        #expect(listing.products.allSatisfy { $0.offers.allSatisfy { $0.prices?.count == 175 } })
        let count = fixture.standIn.seen.count
        #expect(count <= 400, "\(count) calls")
        #expect(fixture.waits.count == 0)
        let page = try MarkdownPage("docs/catalogue.md")
        #expect(page.prose.contains("50 products with five offers each take \(count) requests"))
    }

    @Test("more requests than a tenth of the limit wait for the next hour")
    func tenth() async throws {
        let fixture = try await ConnectFixture(Self.large)
        fixture.standIn.setHeaders(["X-Rate-Limit": "user-hour-lim:1000;user-hour-rem:900;"])
        _ = try await fixture.withClient { try await fixture.read($0) }
        let waits = fixture.waits
        // 99 requests in each hour.
        let hours = waits.filter { $0 > .seconds(3500) }.count
        #expect(hours == (fixture.standIn.seen.count - 1) / 99)
    }

    @Test("the client leaves the rest of the hour to other programs")
    func others() async throws {
        let fixture = try await ConnectFixture()
        fixture.standIn.setHeaders(["X-Rate-Limit": "user-hour-lim:3500;user-hour-rem:100;"])
        _ = try await fixture.withClient { try await fixture.read($0) }
        #expect(fixture.waits.allSatisfy { $0 == .seconds(60) })
        #expect(fixture.waits.count == fixture.standIn.seen.count - 1)
    }

    @Test("a clock that is set back by a day does not stop the requests")
    func clockSetBack() async throws {
        let fixture = try await ConnectFixture()
        fixture.standIn.setHeaders(["X-Rate-Limit": "user-hour-lim:100; user-hour-rem:90;"])
        try await fixture.withClient { client in
            _ = try await fixture.read(client)
            fixture.advance(.hours(-24))
            _ = try await fixture.read(client)
        }
        // Nine requests in each hour.
        let hours = fixture.waits.filter { $0 > .seconds(3500) }.count
        #expect(hours == (fixture.standIn.seen.count - 1) / 9 && fixture.waits.allSatisfy { $0 <= .hours(1) })
    }

    @Test(
        "a cursor may have any form that a query permits",
        arguments: [("MQ", true), ("a+/b:c,d%3D=", true), ("", false), ("a#b", false), ("a b", false), ("ä", false)])
    func cursors(cursor: String, isFollowed: Bool) {
        let request = AppStoreConnectRequest(["apps"], ["limit": "200"])
        let next = request.following("https://elsewhere.example/v1/apps?limit=5&cursor=\(cursor)")
        #expect(next?.target == (isFollowed ? "/v1/apps?limit=200&cursor=\(cursor)" : nil))
    }

    private func failure(_ fixture: ConnectFixture, patience: Duration = .hours(1)) async -> AppStoreConnectFailure? {
        do {
            _ = try await fixture.withClient(patience: patience) { try await fixture.read($0) }
            return nil
        } catch { return error as? AppStoreConnectFailure }
    }

    private static var large: ConnectCatalogue {
        var catalogue = ConnectCatalogue.example
        var model = catalogue.groups[0].products[0]
        let territories = (100..<275).map { "Z\($0)" }
        model.prices = territories.map { ConnectCatalogue.Price($0, "10.99") }
        model.offers[0].prices = territories.map { ConnectCatalogue.Price($0, "5.49") }
        catalogue.groups[0].products = (0..<50).map { number in
            var product = model
            product.productID = "com.example.app.product\(number)"
            product.offers = (0..<5).map { place in
                var offer = model.offers[0]
                offer.code = "offer_\(place)"
                return offer
            }
            return product
        }
        catalogue.groups.removeLast()
        return catalogue
    }
}
