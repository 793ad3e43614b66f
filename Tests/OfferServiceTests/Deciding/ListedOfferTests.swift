import Foundation
import OfferConfiguration
import OfferCore
import OfferEligibility
import OfferHTTP
import StoreTestSupport
import TestSupport
import Testing

@testable import OfferService

@Suite("What App Store Connect has, in decisions")
struct ListedOfferTests {
    private static let offers = """
        plain, {offerID: keep, rule: retention, priority: 20}, {offerID: also, rule: retention, priority: 10}
        """

    @Test("a dead offer is refused, and the decision takes the next one")
    func deadOffer() async throws {
        let service = try StoreService(Self.offers, app: "appAppleID: 1234567890\n    refuseDeadOffers: true")
        try await service.addSubscriber(autoRenew: false)
        service.routes.policy.use([Sample.bundleID: Self.listing(of: ["also", "plain"])])
        let decision = try await service.decide()
        #expect(decision.signed == ["also"] && decision.refused["keep"] == ["offer_unavailable"])
        let members = #""productID":"monthly","offerID":"keep","applicationUsername":"u""#
        let refused = await service.post("/v1/promotional-offers", members)
        #expect(refused.status == 422 && refused.text.contains("offer_unavailable"), "\(refused.text)")
    }

    @Test("a dead offer without a rule is not signed either")
    func deadPlainOffer() async throws {
        let service = try StoreService(Self.offers, app: "appAppleID: 1234567890\n    refuseDeadOffers: true")
        let members = #""productID":"monthly","offerID":"plain","applicationUsername":"u""#
        #expect(await service.post("/v1/promotional-offers", members).status == 200)
        service.routes.policy.use([Sample.bundleID: Self.listing(of: ["keep", "also"])])
        let refused = await service.post("/v1/promotional-offers", members)
        #expect(refused.status == 422 && refused.text.contains(#""code":"not_eligible""#))
        #expect(refused.text.contains("offer_unavailable"))
        service.routes.policy.use([:])
        #expect(await service.post("/v1/promotional-offers", members).status == 200, "nothing is known any more")
    }

    @Test("a retention message with a dead offer is skipped")
    func deadRetentionOffer() async throws {
        let service = try StoreService.retention(app: "appAppleID: 1234567890\n    refuseDeadOffers: true")
        try await service.addSubscriber(autoRenew: false)
        #expect(try await service.message(Retention.Request(1)).text.contains("promotionalOffer"))
        service.routes.policy.use([Sample.bundleID: Self.listing(of: ["second", "plain"])])
        #expect(try await service.message(Retention.Request(2)).text == Retention.shown(5))
    }

    @Test("a listing without any offer refuses nothing")
    func withoutOffers() async throws {
        let service = try StoreService(Self.offers, app: "appAppleID: 1234567890\n    refuseDeadOffers: true")
        try await service.addSubscriber(autoRenew: false)
        service.routes.policy.use([Sample.bundleID: Self.listing(of: [])])
        #expect(try await service.decide().signed == ["keep"])
        let members = #""productID":"monthly","offerID":"plain","applicationUsername":"u""#
        #expect(await service.post("/v1/promotional-offers", members).status == 200)
    }

    @Test("an app without refuseDeadOffers signs as before, and so does one whose offers could not all be read")
    func others() async throws {
        let members = #""productID":"monthly","offerID":"plain","applicationUsername":"u""#
        let plain = try StoreService(Self.offers)
        plain.routes.policy.use([Sample.bundleID: Self.listing(of: [])])
        #expect(await plain.post("/v1/promotional-offers", members).status == 200)
        let partial = try StoreService(Self.offers, app: "appAppleID: 1234567890\n    refuseDeadOffers: true")
        partial.routes.policy.use([Sample.bundleID: Self.listing(of: [], hasAllOffers: false)])
        #expect(await partial.post("/v1/promotional-offers", members).status == 200)
    }

    @Test("the terms of an offer stand beside it, and are absent where they are unknown")
    func terms() async throws {
        let service = try StoreService(Self.offers)
        try await service.addSubscriber(autoRenew: false)
        #expect(try await service.decide().response.text.contains("terms") == false)
        service.routes.policy.use([Sample.bundleID: Self.listing(of: ["keep"])])
        let text = try await service.decide().response.text
        #expect(
            text.contains(
                #""terms":{"displayName":"Pro","mode":"pay_as_you_go","duration":"P1M","numberOfPeriods":3}"#),
            "\(text)")
        #expect(text.components(separatedBy: #""terms""#).count == 2, "the other offer is not in App Store Connect")
    }

    @Test("the price is that of the customer's storefront")
    func price() throws {
        let listing = Self.listing(of: ["keep"])
        let (product, offer) = (try Self.product, try OfferID(utf8: Array("keep".utf8)))
        let usa = try #require(listing.terms(of: product, offer, in: "USA"))
        #expect(usa.price?.text == "4.99 USD" && usa.storefront == "USA")
        #expect(usa.text == "4.99 USD for each month, 3 times")
        let unknown = try #require(listing.terms(of: product, offer, in: "JPN"))
        #expect(unknown.price == nil && unknown.storefront == nil)
        #expect(unknown.text == "a reduced price for each month, 3 times")
    }

    @Test("the English page of a campaign states the terms that are known, and the price of its storefront")
    func pageOfLink() async throws {
        let offer = "offer: {productID: monthly, offerID: keep}"
        let service = try StoreService(
            Self.offers,
            app: """
                appAppleID: 1234567890
                    links:
                      teamID: ABCDE12345
                      name: Example
                      campaigns:
                        - {name: usa, \(offer), storefront: USA}
                        - {name: all, \(offer)}
                        - {name: german, \(offer), language: de}
                """)
        let router = service.routes.application.router(for: .links, isOnLoopback: false)
        func page(_ name: String) -> String {
            let request = HTTPRequest(method: "GET", target: "/o/\(name)", host: "go.example.com")
            guard case .now(let response) = router.reply(to: request, shedding: .none) else { return "" }
            return response.text
        }
        #expect(page("usa").contains("<h1>") && !page("usa").contains(#"class="terms""#), "nothing is known yet")
        service.routes.policy.use([Sample.bundleID: Self.listing(of: ["keep"])])
        #expect(page("usa").contains(#"<p class="terms">Pro: 4.99 USD for each month, 3 times</p>"#), "\(page("usa"))")
        #expect(page("all").contains(#"<p class="terms">Pro: a reduced price for each month, 3 times</p>"#))
        #expect(!page("german").contains(#"class="terms""#))
        service.routes.policy.use([Sample.bundleID: Self.listing(of: ["also"])])
        #expect(!page("usa").contains(#"class="terms""#), "App Store Connect no longer has the offer")
    }

    @Test("groups and ranks come from App Store Connect unless the file has them")
    func values() throws {
        let service = try StoreService(Self.offers)
        service.routes.policy.use([Sample.bundleID: Self.listing(of: [])])
        let app = try #require(service.routes.policy.snapshot.catalogue?.apps[Sample.bundleID])
        #expect(app.groups[try Self.product] == "21012345", "the file's value")
        #expect(app.rules.products.ranks[try Self.product] == 2, "the file's value")
        let bare = try StoreService(
            yaml: "apps: [{bundleID: com.example.app, appAppleID: 1, products: [{productID: monthly, offers: []}]}]")
        bare.routes.policy.use([Sample.bundleID: Self.listing(of: [])])
        let filled = try #require(bare.routes.policy.snapshot.catalogue?.apps[Sample.bundleID])
        let product = try Self.product
        #expect(filled.groups[product] == "99" && filled.rules.products.ranks[product] == -1)
        #expect(bare.routes.policy.snapshot.configured?.apps[Sample.bundleID]?.groups.isEmpty == true)
    }

    private static var product: ProductID { get throws { try ProductID(utf8: Array("monthly".utf8)) } }

    private static func listing(of offers: [String], hasAllOffers: Bool = true) -> AppListing {
        guard let productID = try? product else { fatalError("the product ID is valid") }
        var product = ProductListing(productID: productID, groupID: "99")
        product.displayName = "Pro"
        product.level = 1
        product.hasAllOffers = hasAllOffers
        product.offers = offers.compactMap { try? OfferID(utf8: Array($0.utf8)) }.map { offerID in
            var offer = OfferListing(offerID: offerID)
            offer.mode = .payAsYouGo
            offer.duration = .oneMonth
            offer.numberOfPeriods = 3
            offer.prices = ListedPrice(amount: "4.99", currency: "USD").map { ["USA": $0] }
            return offer
        }
        return AppListing(appAppleID: 1_234_567_890, groups: [], products: [product], readAt: Sample.day(10))
    }
}
