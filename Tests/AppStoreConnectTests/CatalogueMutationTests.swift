import AppStoreConnect
import AppStoreStandIn
import Foundation
import OfferConfiguration
import OfferCore
import OfferEligibility
import Testing

@Suite("The comparison of the catalogue with App Store Connect")
struct CatalogueMutationTests {
    /// A configuration that agrees with ``ConnectCatalogue/example``.
    private static let yaml = """
        apps:
          - bundleID: com.example.app
            appAppleID: 1234567890
            products:
              - productID: com.example.app.pro.monthly
                subscriptionGroupID: "21012345"
                rank: 2
                price: {USD: 9.99, EUR: 10.99}
                offers:
                  - offerID: winback_1m
                    rule: win_back
                    mode: pay_as_you_go
                    periods: 3
                    price: {USD: 4.99}
                  - retention_free
                  - up_front_3m
              - productID: com.example.app.pro.yearly
                subscriptionGroupID: "21012345"
                rank: 2
                offers: [yearly_20off]
              - productID: com.example.app.basic.monthly
                subscriptionGroupID: "21012345"
                rank: 1
                offers: [basic_1m]
              - productID: com.example.app.news.monthly
                subscriptionGroupID: "21067890"
                offers: []
            retention:
              - rule: {subscription: {group: "21012345", status: active}}
                alternateProduct: {productID: com.example.app.basic.monthly, message: 77aa0000-0000-4000-8000-000000000001}
              - message: 77aa0000-0000-4000-8000-000000000002
        """

    private static let storefronts: Set<String> = ["USA", "DEU"]

    /// A change that a person makes in App Store Connect or in the file, with the finding that names it.
    struct Mutation: Sendable, CustomTestStringConvertible {
        let name: String
        let code: CatalogueFinding.Code
        var subject = ""
        var connect: @Sendable (inout ConnectCatalogue) -> Void = { _ in }
        var file: @Sendable (String) -> String = { $0 }

        var testDescription: String { name }
    }

    private static let monthly = "com.example.app.pro.monthly"
    private static let yearly = "com.example.app.pro.yearly"
    private static let basic = "com.example.app.basic.monthly"
    private static let news = "com.example.app.news.monthly"

    private static func connect(
        _ name: String, _ code: CatalogueFinding.Code, _ subject: String = "",
        _ change: @escaping @Sendable (inout ConnectCatalogue) -> Void
    ) -> Mutation { Mutation(name: name, code: code, subject: subject, connect: change) }

    private static func file(
        _ name: String, _ code: CatalogueFinding.Code, _ subject: String, _ old: String, _ new: String
    ) -> Mutation {
        Mutation(name: name, code: code, subject: subject, file: { $0.replacingOccurrences(of: old, with: new) })
    }

    static let mutations: [Mutation] = [
        connect("an offer is deleted", .unknownOffer, "\(monthly) winback_1m") { $0[monthly]?.offers.remove(at: 0) },
        connect("an offer is created again with another code", .unknownOffer, "\(monthly) winback_1m") {
            $0[monthly]?.offers[0].code = "winback_lm"
        },
        file("an offer ID is mistyped", .unknownOffer, "\(basic) basic_1n", "[basic_1m]", "[basic_1n]"),
        connect("an offer moves to another product", .unknownOffer, "\(basic) basic_1m") { catalogue in
            if let offer = catalogue[basic]?.offers.removeLast() { catalogue[news]?.offers.append(offer) }
        },
        connect("a product is deleted", .unknownProduct, basic) { $0[basic] = nil },
        file(
            "a product ID is mistyped", .unknownProduct, "com.example.app.pro.yealry", "app.pro.yearly",
            "app.pro.yealry"),
        connect("a product is removed from sale by the developer", .removedProduct, monthly) {
            $0[monthly]?.state = "DEVELOPER_REMOVED_FROM_SALE"
        },
        connect("a product is removed from sale by Apple", .removedProduct, yearly) {
            $0[yearly]?.state = "REMOVED_FROM_SALE"
        },
        connect("a product was never submitted", .unapprovedProduct, news) { $0[news]?.state = "READY_TO_SUBMIT" },
        connect("a product is rejected", .unapprovedProduct, news) { $0[news]?.state = "REJECTED" },
        connect("a product moves to another group", .otherGroup, yearly) { catalogue in
            catalogue.groups[1].products.append(catalogue.groups[0].products.remove(at: 1))
        },
        file(
            "a group ID is mistyped", .otherGroup, yearly, "yearly\n        subscriptionGroupID: \"21012345\"",
            "yearly\n        subscriptionGroupID: \"21012346\""),
        connect("the levels of a group are turned round", .otherRanks, basic) {
            $0[monthly]?.level = 2
            $0[yearly]?.level = 2
            $0[basic]?.level = 1
        },
        connect("two products of one level are separated", .otherRanks, monthly) {
            $0[yearly]?.level = 2
            $0[basic]?.level = 3
        },
        file("ranks are the wrong way round", .otherRanks, monthly, "rank: 1", "rank: 3"),
        connect("the offer costs as much as the plan in one territory", .offerNotCheaper, "\(monthly) winback_1m") {
            $0[monthly]?.offers[0].prices[1].amount = "10.99"
        },
        connect("the plan becomes cheaper than the offer", .offerNotCheaper, "\(basic) basic_1m") {
            for place in 0..<3 { $0[basic]?.prices[place].amount = "1.99" }
        },
        connect("a price up front exceeds the sum of its periods", .offerPossiblyNotCheaper, "\(monthly) up_front_3m") {
            $0[monthly]?.offers[2].prices[0].amount = "29.97"
        },
        connect("an offer has no price where customers are", .noOfferPrice, "\(basic) basic_1m") {
            $0[basic]?.offers[0].prices.removeAll { $0.territory == "DEU" }
        },
        file(
            "the file lists an eleventh offer", .tooManyOffers, basic, "[basic_1m]",
            "[basic_1m, a0, a1, a2, a3, a4, a5, a6, a7, a8, a9]"),
        connect("an offer is for the monthly plan", .otherBillingPlan, "\(yearly) yearly_20off") {
            $0[yearly]?.offers[0].plan = "MONTHLY"
        },
        file(
            "the file names the monthly plan", .otherBillingPlan, "\(yearly) yearly_20off", "[yearly_20off]",
            "[{offerID: yearly_20off, billingPlan: MONTHLY}]"),
        Mutation(
            name: "the plan of an offer is withdrawn", code: .otherBillingPlan, subject: "\(yearly) yearly_20off",
            connect: {
                $0[yearly]?.offers[0].plan = "MONTHLY"
                $0[yearly]?.plans = ["UPFRONT"]
            },
            file: {
                $0.replacingOccurrences(
                    of: "[yearly_20off]", with: "[{offerID: yearly_20off, billingPlan: MONTHLY}]")
            }),
        file(
            "the alternate product is not in the group of the subscribers", .retentionOutsideGroup, basic,
            #"subscription: {group: "21012345""#, #"subscription: {group: "21067890""#),
        connect("the group of the alternate product changes", .retentionOutsideGroup, basic) { catalogue in
            catalogue.groups[1].products.append(catalogue.groups[0].products.remove(at: 2))
        },
        connect("an offer is created that no rule gives", .unusedOffer, "\(news) new_offer") {
            $0[news]?.offers.append(ConnectCatalogue.Offer("new_offer", "FREE_TRIAL", "ONE_MONTH", 1))
        },
        connect("notifications go to another server", .otherNotificationURL) {
            $0.notificationURL = "https://elsewhere.example/hook"
        },
        connect("no URL for notifications is set", .otherNotificationURL) { $0.notificationURL = nil },
        connect("notifications have version 1", .otherNotificationVersion) { $0.notificationVersion = "V1" },
        file("the Apple ID is of another app", .otherAppAppleID, "", "1234567890", "1234567891"),
        connect("Family Sharing is turned on", .otherFamilySharing, basic) { $0[basic]?.isFamilySharable = true },
        connect("the list price rises", .otherListPrice, monthly) { $0[monthly]?.prices[0].amount = "11.99" },
        connect("the offer's price changes", .otherOfferPrice, "\(monthly) winback_1m") {
            $0[monthly]?.offers[0].prices[0].amount = "5.99"
        },
        connect("an offer becomes a price up front", .otherMode, "\(monthly) winback_1m") {
            $0[monthly]?.offers[0].mode = "PAY_UP_FRONT"
            $0[monthly]?.offers[0].duration = "THREE_MONTHS"
            $0[monthly]?.offers[0].periods = 1
        },
        connect("an offer becomes longer", .otherPeriods, "\(monthly) winback_1m") {
            $0[monthly]?.offers[0].periods = 6
        },
    ]

    @Test("a correct catalogue has no findings")
    func correct() async throws {
        let findings = try await Self.findings(.example, Self.yaml)
        #expect(findings.isEmpty, "\(findings)")
    }

    @Test("each mutation of a correct catalogue is named by its finding", arguments: mutations)
    func named(mutation: Mutation) async throws {
        #expect(Self.mutations.count >= 30)
        var catalogue = ConnectCatalogue.example
        mutation.connect(&catalogue)
        let findings = try await Self.findings(catalogue, mutation.file(Self.yaml))
        let subject = mutation.subject.isEmpty ? "com.example.app" : "com.example.app " + mutation.subject
        let finding = findings.first { $0.code == mutation.code && $0.subject == subject }
        #expect(finding != nil, "\(findings.map(\.diagnostic))")
        #expect(finding?.sentence.isEmpty == false && finding?.hint.isEmpty == false)
    }

    @Test("every kind of finding that a change can cause is among the mutations")
    func complete() {
        let others: Set<CatalogueFinding.Code> = [.incompleteListing, .unknownRetentionProduct]
        #expect(Set(Self.mutations.map(\.code)).union(others) == Set(CatalogueFinding.Code.allCases))
    }

    @Test("an unknown offer hints at the one that was meant, or at the product that has it")
    func nearMisses() async throws {
        var catalogue = ConnectCatalogue.example
        catalogue[Self.monthly]?.offers[0].code = "winback_lm"
        let near = try await Self.findings(catalogue, Self.yaml).first { $0.code == .unknownOffer }
        #expect(near?.hint == "did you mean winback_lm?")
        catalogue = .example
        if let offer = catalogue[Self.basic]?.offers.removeLast() { catalogue[Self.news]?.offers.append(offer) }
        let moved = try await Self.findings(catalogue, Self.yaml).first { $0.code == .unknownOffer }
        #expect(moved?.hint.contains(Self.news) == true)
    }

    @Test("what could not be read leads to no finding of absence")
    func incomplete() async throws {
        var catalogue = ConnectCatalogue.example
        catalogue[Self.basic] = nil
        catalogue[Self.monthly]?.offers.remove(at: 0)
        let findings = try await Self.findings(
            catalogue, Self.yaml, odd: [#"{"type":"subscriptionPromotionalOffers","id":"y"}"#], isSparse: true)
        #expect(findings.map(\.code) == [.incompleteListing])
        #expect(findings.first?.severity == .warning)
    }

    @Test("an offer for the monthly plan of a product that is sold with it has no finding", arguments: [true, false])
    func monthlyPlan(isKnown: Bool) async throws {
        var catalogue = ConnectCatalogue.example
        catalogue[Self.yearly]?.offers[0].plan = "MONTHLY"
        catalogue[Self.yearly]?.offers[0].prices = [ConnectCatalogue.Price("USA", "9.99"), .init("DEU", "10.99")]
        catalogue[Self.yearly]?.offers[0].mode = "PAY_AS_YOU_GO"
        if !isKnown { catalogue[Self.yearly]?.plans = ["WEEKLY"] }
        let text = Self.yaml.replacingOccurrences(
            of: "[yearly_20off]", with: "[{offerID: yearly_20off, billingPlan: MONTHLY}]")
        let findings = try await Self.findings(catalogue, text)
        #expect(findings.isEmpty, "\(findings)")
    }

    @Test("without known storefronts, a missing price is only a warning")
    func unknownStorefronts() async throws {
        var catalogue = ConnectCatalogue.example
        catalogue[Self.basic]?.offers[0].prices.removeAll { $0.territory == "FRA" }
        #expect(try await Self.findings(catalogue, Self.yaml).isEmpty)
        let finding = try await Self.findings(catalogue, Self.yaml, storefronts: nil).first
        #expect(finding?.code == .noOfferPrice && finding?.severity == .warning && finding?.territories == ["FRA"])
    }

    @Test("a retention case that names a product of no app is reported")
    func unknownRetentionProduct() async throws {
        let text = Self.yaml.replacingOccurrences(
            of: "alternateProduct: {productID: \(Self.basic)",
            with: "alternateProduct: {productID: com.example.app.none")
        let (file, problems) = ConfigurationFile.read(Array(text.utf8), name: "offers.yaml")
        // The reader of the file refuses most of them already.
        guard problems.isEmpty, file.catalogue != nil else { return }
        #expect(try await Self.findings(.example, text).map(\.code) == [.unknownRetentionProduct])
    }

    private static func findings(
        _ connect: ConnectCatalogue, _ yaml: String, odd: [String] = [], isSparse: Bool = false,
        storefronts: Set<String>? = storefronts
    ) async throws -> [CatalogueFinding] {
        let (file, problems) = ConfigurationFile.read(Array(yaml.utf8), name: "offers.yaml")
        try #require(problems.isEmpty, "\(problems)")
        let app = try #require(file.catalogue?.apps[ConnectFixture.bundleID])
        let fixture = try await ConnectFixture(connect)
        fixture.standIn.setOddEntries(odd)
        fixture.standIn.setSparse(isSparse)
        let listing = try await fixture.withClient { try await fixture.read($0) }
        return CatalogueCheck(
            try ConnectFixture.bundleID, app, listing: listing, storefronts: storefronts, receivesNotifications: true
        ).findings()
    }
}
