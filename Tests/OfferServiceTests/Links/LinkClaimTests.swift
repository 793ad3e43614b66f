import Foundation
import OfferCore
import OfferCrypto
import OfferEligibility
import OfferHTTP
import StoreTestSupport
import SubscriberStore
import TestSupport
import Testing

@testable import AppStoreTestSupport
@testable import OfferService

@Suite("A customer opens a link in the app")
struct LinkClaimTests {
    /// Two customers who get links, each with a running subscription, so that the rule of `back` refuses them.
    private static func customers() async throws -> (LinkService, one: UInt64, other: UInt64) {
        let links = try LinkService()
        for account in 1...2 as ClosedRange<UInt64> {
            try await links.service.addSubscriber("\(1000 + account)", account: account)
        }
        return (links, 1, 2)
    }

    @Test("a personal link gives its customer the campaign's offer once, and counts in the look-up as a grant")
    func own() async throws {
        let (links, one, _) = try await Self.customers()
        let link = try await links.link(to: Sample.account(one))
        #expect(link.hasPrefix("https://go.example.com/o/~") && link.utf8.count == 26 + 44)
        #expect(try await links.service.decide(#"\#(StoreService.token(one)),"sign":false"#).eligible == [])
        let drawn = try await links.decide(one, link)
        #expect(drawn.eligible.contains("back"), "\(drawn.response.text)")
        #expect(drawn.link == ["campaign": "spring", "counts": "true"])
        #expect(drawn.offers.first { $0["offerID"] as? String == "back" }?["rule"] as? String == "grant")
        let signed = try await links.service.decide(#"\#(StoreService.token(one)),"sign":"best""#)
        #expect(signed.signed == ["back"], "the claim is kept: \(signed.response.text)")
        let customer = try #require(await links.service.lookUp(StoreService.token(one)).first)
        let grants = customer["grants"] as? [[String: Any]] ?? []
        #expect(grants.map { $0["reason"] as? String } == ["link:campaign"])
        #expect(grants.map { $0["state"] as? String } == ["signed"])
        #expect(try await links.service.authorisations(of: [Sample.account(one)]).map(\.source?.channel) == [.link])
        let counts = try await links.service.store.linkCounts(in: Sample.production)
        #expect(counts["spring"]?.made == 1 && counts["spring"]?.claimed == 1)
        let scrape = links.service.routes.scrape()
        #expect(scrape.sum(of: "offer_signer_shown_links_total") == 1)
    }

    @Test("a forwarded link gives its recipient nothing, and its customer loses nothing")
    func forwarded() async throws {
        let (links, one, other) = try await Self.customers()
        let link = try await links.link(to: Sample.account(one))
        let stolen = try await links.decide(other, link, sign: "true")
        #expect(stolen.link == ["campaign": "spring", "counts": "false", "code": "another_customers_link"])
        #expect(stolen.eligible == [], "neither the grant nor the condition link: \(stolen.response.text)")
        #expect(try await links.service.store.linkCounts(in: Sample.production)["spring"]?.claimed == 0)
        let grants = await links.service.lookUp(StoreService.token(other)).first?["grants"] as? [Any] ?? []
        #expect(grants.isEmpty)
        #expect(try await links.decide(one, link, sign: "true").signed.contains("back"))
        #expect(try await links.decide(other, link).eligible == [])
    }

    @Test("a link to a subscription counts for its account, and a link to an account not for a purchase of its name")
    func identifiers() async throws {
        let links = try LinkService()
        let story = try Story(service: links.service)
        try await story.on(0) { try $0.subscribe(at: $1) }
        let original =
            try #require(
                await links.service.lookUp(StoreService.token()).first?["subscriptions"] as? [[String: Any]]
            ).first?["originalTransactionID"] as? String
        let customer = CustomerIdentifier.originalTransactionID(Sample.id(try #require(original)))
        let link = try await links.link(to: customer, on: 0)
        links.service.setDay(1)
        #expect(try await links.decide(1, link).eligible.contains("back"))
    }

    @Test("a token that another program made by the description is read, and no other text is")
    func vector() throws {
        // Made with Python's hmac, with a throw-away key.
        let text = "AWo53pABAgMEBQYHCGtJ0gCZ5cbL5ZVlb6vKCsX8W529"
        let key = try LinkKey(Secret("a throw-away key for fuzzing"))
        let token = try #require(LinkToken(text, in: Sample.bundleID, under: key))
        #expect(token.id == Array(1...8) && token.expiresAt == Timestamp(milliseconds: 1_800_000_000_000))
        #expect(try token.text(in: Sample.bundleID, under: key) == text)
        for place in text.indices {
            let other = text.replacingCharacters(in: place...place, with: text[place] == "A" ? "B" : "A")
            #expect(LinkToken(other, in: Sample.bundleID, under: key) == nil, "\(other)")
        }
        for other in ["", text + "A", String(text.dropLast()), text + "="] {
            #expect(LinkToken(other, in: Sample.bundleID, under: key) == nil, "\(other)")
        }
    }

    @Test("a link that has expired, is unknown, of a campaign that ended or of an app without links does not count")
    func refused() async throws {
        let (links, one, _) = try await Self.customers()
        let link = try await links.link(to: Sample.account(one))
        func code(_ link: String) async throws -> String? { try await links.decide(one, link).link["code"] }
        #expect(try await code("https://go.example.com/o/nothing") == "unknown_link")
        #expect(try await code("no link at all") == "unknown_link")
        #expect(try await code(String(link.dropLast()) + (link.hasSuffix("A") ? "B" : "A")) == "unknown_link")
        let other = try LinkKey(Secret("another throw-away key"))
        let stored = try await links.stored(one)
        let forged = try LinkToken(of: stored, under: links.key).text(in: Sample.bundleID, under: other)
        #expect(try await code("~" + forged) == "unknown_link")
        #expect(
            try await code(
                "~"
                    + (try LinkToken(of: stored, under: links.key).text(
                        in: BundleID(utf8: Array("com.other".utf8)), under: links.key)))
                == "unknown_link", "a token of another app")
        links.service.setDay(10.99)
        #expect(try await code(link) == nil)
        links.service.setDay(11)
        #expect(try await code(link) == "link_expired")
        links.service.routes.setTime(try #require(Timestamp(dateOrTime: "2030-01-01")))
        #expect(try await code("banner") == "link_expired")
        let without = try StoreService("{offerID: back, rule: win_back}")
        let decision = try await without.decide(#"\#(StoreService.token(one)),"sign":false,"link":"\#(link)""#)
        #expect(decision.link["code"] == "unknown_link")
    }

    @Test("a campaign's link makes the condition link true for everybody who shows it, only in that request")
    func campaign() async throws {
        let (links, one, other) = try await Self.customers()
        for account in [one, other] {
            let shown = try await links.decide(account, "https://click.mailer.example/o/banner?utm_source=mail#top")
            #expect(shown.eligible == ["half"], "\(shown.response.text)")
            #expect(shown.link == ["campaign": "banner", "counts": "true"])
            let later = try await links.service.decide(#"\#(StoreService.token(account)),"sign":false"#)
            #expect(later.eligible == [] && later.refused["half"] == ["link"])
            #expect(later.link == [:], "there is no member link without a link")
        }
        let body = #"{"bundleID":"com.example.app","productID":"monthly","offerID":"half",\#(StoreService.token(one))"#
        #expect(
            await links.service.routes.postLater("/v1/promotional-offers", body + "}").json["code"] as? String
                == "not_eligible")
        let signed = await links.service.routes.postLater("/v1/promotional-offers", body + #","link":"banner"}"#)
        #expect(signed.status == 200, "\(signed.text)")
    }

    @Test("once the offer is redeemed, the link gives nothing more")
    func redeemed() async throws {
        let links = try LinkService()
        let account: UInt64 = 1
        let story = try Story(account, service: links.service)
        try await story.on(0) { try $0.subscribe(at: $1) }
        let link = try await links.link(to: Sample.account(account), on: 1)
        links.service.setDay(2)
        let signed = try await links.decide(account, link, sign: #""best""#)
        #expect(signed.signed == ["back"], "\(signed.response.text)")
        try await story.on(2.2) { try $0.redeem("back", at: $1) }
        links.service.setDay(3)
        let again = try await links.decide(account, link)
        #expect(!again.eligible.contains("back"), "\(again.response.text)")
        #expect(again.link["counts"] == "true")
    }

    @Test("a mailing leaves out its share, and records both arms for the report")
    func arms() async throws {
        let links = try LinkService(holdOut: 0.2)
        let customers = (1...500 as ClosedRange<UInt64>).map(Sample.account)
        let made = try await links.make(for: customers)
        let heldOut = made.count { $0 == .heldOut }
        #expect((70...130).contains(heldOut), "about a fifth of 500: \(heldOut)")
        #expect(try await links.make(for: customers, on: 5) == made, "the same list gives the same links")
        let exposures = try await links.exposures()
        #expect(exposures.count == 500)
        #expect(exposures.count { $0.arm == .heldOut } == heldOut)
        for exposure in exposures {
            #expect(exposure.place == SamplePlace(sample: "link:spring", isInSample: exposure.arm == .offered))
            #expect(exposure.source.channel == .link)
        }
        let counts = try #require(try await links.service.store.linkCounts(in: Sample.production)["spring"])
        #expect(counts.made == Int64(500 - heldOut) && counts.heldOut == Int64(heldOut))
    }

    @Test("a customer who was held out has no link, even with a token of the right key")
    func heldOut() async throws {
        let links = try LinkService(holdOut: 0.2)
        let customers = (1...50 as ClosedRange<UInt64>).map(Sample.account)
        let made = try await links.make(for: customers)
        let place = try #require(made.firstIndex(of: .heldOut))
        let account = UInt64(place + 1)
        try await links.service.addSubscriber("\(1000 + account)", account: account)
        let stored = try await links.stored(account)
        let token = try LinkToken(of: stored, under: links.key).text(in: Sample.bundleID, under: links.key)
        let decision = try await links.decide(account, "~" + token)
        #expect(decision.link == ["counts": "false", "code": "unknown_link"] && decision.eligible == [])
    }

    @Test("an erased customer's link gives nobody anything, and is not made again")
    func erased() async throws {
        let (links, one, other) = try await Self.customers()
        let link = try await links.link(to: Sample.account(one))
        _ = try await links.decide(one, link)
        #expect(await links.service.erase(StoreService.token(one)).status == 200)
        try await links.service.addSubscriber("\(1000 + one)", account: one)
        for account in [one, other] {
            let decision = try await links.decide(account, link)
            #expect(decision.link["counts"] == "false" && decision.eligible == [], "\(decision.response.text)")
        }
        #expect(try await links.make(for: [Sample.account(one)]) == [.erased])
        #expect(try await links.service.store.linkCounts(in: Sample.production)["spring"]?.claimed == 1)
    }

    @Test("a mail program may encode the tilde or add a slash, and what is no link only counts as unknown")
    func spellings() async throws {
        let (links, one, _) = try await Self.customers()
        let link = try await links.link(to: Sample.account(one))
        for spelling in [
            link.replacing("~", with: "%7E"), link + "/", link.replacing("https", with: "HTTPS"), link + "?a=b#c",
            String(link.dropFirst("https://go.example.com/o/".count)),
        ] {
            #expect(try await links.decide(one, spelling).link["counts"] == "true", "\(spelling)")
        }
        for text in [
            String(repeating: "x", count: 3000), "a\\u2063b", "https://go.example.com/x/o/spring", "ftp://a/o/spring",
        ] {
            let decision = try await links.decide(one, text)
            #expect(decision.link == ["counts": "false", "code": "unknown_link"], "\(decision.response.text)")
        }
    }

    @Test("links that have expired are not made again, and another key ends links but makes no second one")
    func again() async throws {
        let (links, one, _) = try await Self.customers()
        let first = try await links.link(to: Sample.account(one))
        #expect(try await links.make(for: [Sample.account(one)], on: 10.9) == [.link(first)])
        #expect(try await links.make(for: [Sample.account(one)], on: 11) == [.over])
        let stored = try await links.stored(one)
        let other = try LinkKey(Secret("another throw-away key"))
        let maker = try #require(
            LinkMaker(
                try links.campaign, in: Sample.production, under: other, origin: LinkService.origin, rulesDigest: [],
                at: Sample.day(2), lifetime: .hours(24)))
        let made = try await maker.make(for: [Sample.account(one)], in: links.service.store)
        #expect(made != [.link(first)])
        #expect(try await links.stored(one) == stored, "the same link, under another code")
        #expect(try await links.service.store.linkCounts(in: Sample.production)["spring"]?.made == 1)
    }

    @Test("a grant of support that lifts limits comes before a link's")
    func support() async throws {
        let (links, one, _) = try await Self.customers()
        let link = try await links.link(to: Sample.account(one))
        _ = try await links.decide(one, link)
        let offer = try #require(try links.campaign.offer)
        let grant = OfferGrant(
            id: UUIDText(high: 1, low: 1), subject: .customer(Sample.account(one)),
            account: .appAccountToken(Sample.token(one)), productID: offer.productID, offerID: offer.offerID,
            purpose: OfferGrant.Purpose(reason: "goodwill"), liftsLimits: true, maker: OfferGrant.Person("spring"),
            at: Sample.day(5), expiresAt: Sample.day(20), approval: .notNeeded)
        let result = try await links.service.store.make(
            GrantRequest(
                app: Sample.production, grant: grant, names: [Sample.account(one)], accounts: [], holders: [],
                budget: 1,
                budgetStart: Sample.day(1)))
        #expect(result == .made(grant), "the link's grant neither blocks it nor counts against the budget")
        let listed = try await links.service.store.grants(in: Sample.production, .all, before: nil, limit: 10)
        #expect(listed == [grant], "the list has the grants by persons")
        let customer = try #require(
            try await links.service.store.customers(
                known: Sample.account(one), bundleID: Sample.bundleID, environment: .production
            ).first)
        #expect(customer.grants.count == 2)
    }

    @Test("the customer of the link in the sandbox gets nothing in production")
    func sandbox() async throws {
        let (links, _, _) = try await Self.customers()
        let number: UInt64 = 3
        try await links.service.addSubscriber("\(2000 + number)", account: number)
        guard case .link(let link)? = try await links.make(for: [Sample.account(number)], in: Sample.sandbox).first
        else {
            throw TestFailure("no link")
        }
        let decision = try await links.decide(number, link)
        #expect(decision.link["code"] == "another_customers_link" && decision.eligible == [])
    }
}
