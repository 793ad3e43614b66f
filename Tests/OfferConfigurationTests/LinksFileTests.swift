import OfferCore
import OfferEligibility
import Testing

@testable import OfferConfiguration

@Suite("Campaigns with links in the configuration file")
struct LinksFileTests {
    private static func read(
        _ campaigns: String, rule: String = "win_back", head: String = "teamID: ABCDE12345, name: Example",
        others: String = ""
    ) -> (links: LinkPolicy?, problems: [String]) {
        let text = """
            apps:
              - bundleID: com.example.app
                links: {\(head), campaigns: [\(campaigns)]}
                products:
                  - productID: pro
                    offers: [plain, {offerID: back, rule: \(rule)}]
            \(others)
            """
        let (file, problems) = ConfigurationFile.read(Array(text.utf8), name: "file")
        let app = file.catalogue?.apps.values.first { $0.offers.count == 1 && $0.rules.links?.teamID == "ABCDE12345" }
        return (app?.rules.links, problems.map { $0.error + " | " + $0.hint })
    }

    @Test("a campaign with everything, and one with only its name")
    func campaigns() throws {
        let (links, problems) = Self.read(
            """
            {name: spring, offer: {productID: pro, offerID: back}, holdOut: 0.1, until: 2027-05-01, title: A month on us, \
            text: Come back., button: Get it, language: pt-BR, storefront: BRA}, {name: banner-2}
            """, rule: "{link: banner-2}")
        #expect(problems == [])
        let campaigns = try #require(links).campaigns
        #expect(campaigns.map(\.name) == ["spring", "banner-2"])
        #expect(campaigns[0].offer?.offerID.text.description == "back" && campaigns[0].holdOut == 0.1)
        #expect(campaigns[0].until == Timestamp(dateOrTime: "2027-05-01") && campaigns[0].sample == "link:spring")
        #expect(
            campaigns[0].page
                == Campaign.Page(
                    title: "A month on us", text: "Come back.", button: "Get it", language: "pt-BR", storefront: "BRA"))
        #expect(campaigns[1] == Campaign(name: "banner-2"))
    }

    @Test(
        "what cannot be meant is refused",
        arguments: [
            ("{name: Spring}", "not the name of a campaign"), ("{name: a}, {name: a}", "duplicate"),
            ("{name: a, offer: {productID: pro, offerID: plain}}", "no product of the app has this offer with a rule"),
            ("{name: a, offer: {productID: pro}}", "has no offerID"),
            ("{name: a, holdOut: 0.1}", "only personal links"),
            ("{name: a, offer: {productID: pro, offerID: back}, holdOut: 1}", "from 0 up to 0.9"),
            ("{name: a, until: soon}", "this is not a time"), ("{name: a, storefront: us}", "not a storefront"),
            ("{name: a, language: '<b>'}", "not a language"), ("{name: a, titel: x}", "has no such member"),
        ])
    func refused(campaigns: String, problem: String) {
        let (_, problems) = Self.read(campaigns)
        #expect(
            problems.contains { $0.contains(problem) || $0.contains("has no member") && problem.hasSuffix("member") },
            "\(problems)")
    }

    @Test("a rule that names a campaign which does not exist is found, with the near miss")
    func unknownCampaign() {
        let (_, problems) = Self.read("{name: spring}", rule: "{not: {link: sprnig}}")
        #expect(problems.count == 1 && problems[0].contains("sprnig") && problems[0].contains("spring"), "\(problems)")
        #expect(
            Self.read("{name: spring}", head: "teamID: ABCDE, name: x").problems.contains { $0.contains("team ID") })
    }

    @Test("the offer of personal links has no rule that the campaign's own link meets")
    func ownLink() {
        let (_, problems) = Self.read("{name: spring, offer: {productID: pro, offerID: back}}", rule: "{link: spring}")
        #expect(problems.count == 1 && problems[0].contains("tests the link of this campaign"), "\(problems)")
    }

    @Test("two apps have no campaign of the same name, and no sample the name of a mailing")
    func names() {
        let other = """
              - bundleID: com.example.other
                links: {teamID: ABCDE12345, name: Other, campaigns: [{name: spring}]}
                products: [{productID: pro, offers: [plain]}]
            """
        let (_, problems) = Self.read("{name: spring}", others: other)
        #expect(problems.count == 1 && problems[0].contains("another app has a campaign spring"), "\(problems)")
        let (_, samples) = Self.read("{name: spring}", rule: "{share: {of: 0.5, by: 'link:spring'}}")
        #expect(samples.contains { $0.contains("does not begin with link:") }, "\(samples)")
    }
}
