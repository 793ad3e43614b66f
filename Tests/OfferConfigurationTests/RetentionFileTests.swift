import OfferCore
import OfferEligibility
import Testing

@testable import OfferConfiguration

@Suite("Retention messages in the configuration file")
struct RetentionFileTests {
    fileprivate static let id = "1f0c6a4e-0b1d-4d55-9d56-3f6e1c1f7a10"

    fileprivate static func read(
        _ cases: String, app: String = "appAppleID: 1234567890"
    ) -> (file: ConfigurationFile, problems: [String]) {
        let text = """
            apps:
              - bundleID: com.example.app
                \(app)
                products:
                  - {productID: basic, subscriptionGroupID: "21012345", offers: []}
                  - productID: pro
                    subscriptionGroupID: "21012345"
                    offers: [plain, {offerID: keep, limits: {perCustomer: 1}}]
                  - {productID: alone, subscriptionGroupID: "7", offers: []}
                  - {productID: groupless, offers: []}
                retention:
            \(cases.split(separator: "\n").map { "      " + $0 }.joined(separator: "\n"))
            """
        let (file, problems) = ConfigurationFile.read(Array(text.utf8), name: "file")
        return (file, problems.map { $0.error + " | " + $0.hint })
    }

    @Test("cases are read in their order, and need a database")
    func cases() throws {
        let (file, problems) = Self.read(
            """
            - rule: loyalty
              signature: v1
              promotionalOffer: {productID: pro, offerID: keep, message: \(Self.id)}
            - rule: {subscription: {renewals: {atLeast: 3}}}
              alternateProduct: {productID: basic, billingPlanType: MONTHLY, message: {en: \(Self.id.uppercased())}}
            - message: {Production: {en-US: \(Self.id), default: \(Self.id)}, Sandbox: \(Self.id)}
            """)
        #expect(problems == [])
        #expect(file.needsStore)
        let retention = try #require(file.catalogue?.apps.values.first).rules.retention
        #expect(retention.map(\.rule?.name) == ["loyalty", nil, nil])
        #expect(retention.map { $0.rule == nil } == [false, false, true])
        let pro = try ProductID(utf8: Array("pro".utf8))
        let keep = try OfferID(utf8: Array("keep".utf8))
        #expect(
            retention[0].content == .promotionalOffer(RetentionCase.Offer(productID: pro, offerID: keep, form: .v1)))
        #expect(retention[1].content == .alternateProduct(try ProductID(utf8: Array("basic".utf8)), .monthly))
        #expect(
            retention[1].messages.identifier(for: RetentionLocale("en-GB"), in: .production)?.description == Self.id)
        #expect(retention[2].isShownToEveryone(in: [.production, .sandbox]))
    }

    @Test(
        "an error names the line, the path, what was found, and what would be valid",
        arguments: [
            (
                "- message: hello",
                #"file, line 12: apps[0].retention[0].message: "hello" is not valid here | write the UUID"#
            ),
            ("- message: {en: x}", #"apps[0].retention[0].message.en: "x" is not valid here | write the UUID"#),
            (
                "- message: {english!: \(id)}",
                #"apps[0].retention[0].message: "english!" is not valid here | write a locale"#
            ),
            (
                "- message: {en-US: \(id), en_us: \(id)}",
                "en_us appears twice; letter case and - or _ make no difference"
            ),
            ("- message: {}", "apps[0].retention[0].message: no message is named"),
            (
                "- message: {Production: \(id), Xcode: \(id)}",
                #""Xcode" is not valid here | write an environment of the app: Production, Sandbox"#
            ),
            ("- message: {Production: \(id), en: \(id)}", #""en" is not valid here | write an environment of the app"#),
            (
                "- {rule: loyalty}",
                "apps[0].retention[0]: the case shows nothing | write one of message, alternateProduct, promotionalOffer"
            ),
            (
                "- {message: \(id), alternateProduct: {productID: basic, message: \(id)}}",
                "the case shows message and alternateProduct"
            ),
            (
                "- {rule: loyalti, message: \(id)}",
                #"apps[0].retention[0].rule: there is no rule "loyalti" | did you mean loyalty?"#
            ),
            ("- {messages: \(id)}", #"a case has no member "messages" | did you mean message?"#),
            ("- {signature: v1, message: \(id)}", "only a promotionalOffer has a signature"),
            (
                "- {signature: v3, promotionalOffer: {productID: pro, offerID: keep, message: \(id)}}",
                #""v3" is not valid here | write v1 or v2"#
            ),
            (
                "- alternateProduct: {productID: basc, message: \(id)}",
                #"retention[0].alternateProduct.productID: the app has no product "basc" | did you mean basic?"#
            ),
            (
                "- alternateProduct: {productID: groupless, message: \(id)}",
                "groupless has no subscriptionGroupID, so nobody can change to it"
            ),
            ("- alternateProduct: {productID: alone, message: \(id)}", "no other product is in the group of alone"),
            (
                "- alternateProduct: {productID: basic, billingPlanType: yearly, message: \(id)}",
                #""yearly" is not valid here | write MONTHLY or BILLED_UPFRONT"#
            ),
            ("- alternateProduct: {message: \(id)}", "alternateProduct: alternateProduct has no productID"),
            ("- alternateProduct: {productID: basic}", "alternateProduct: alternateProduct has no message"),
            (
                "- promotionalOffer: {productID: pro, offerID: kep, message: \(id)}",
                #"promotionalOffer.offerID: pro has no offer "kep" | did you mean keep?"#
            ),
            (
                "- promotionalOffer: {productID: pro, offerID: plain, message: \(id)}",
                "plain has no rule and no limits, so nothing would keep a customer from getting it again and again"
            ),
            ("- promotionalOffer: {productID: basic, offerID: keep, message: \(id)}", #"basic has no offer "keep""#),
            (
                "- {rule: {everSubscribed: false}, promotionalOffer: {productID: pro, offerID: keep, message: \(id)}}",
                "this can never hold: the App Store gives promotional offers only to subscribers"
            ),
            (
                "- message: \(id)\n- {rule: loyalty, message: \(id)}",
                "file, line 13: apps[0].retention[1]: this can never be reached: the case before it is shown to everyone"
            ),
            ("- message: \(id)\n- message: \(id)", "apps[0].retention[1]: this can never be reached"),
            ("[]", "apps[0].retention: the list is empty"),
            ("message: \(id)", "apps[0].retention: retention must be a list"),
        ])
    func errors(cases: String, expected: String) {
        let (_, problems) = Self.read(cases)
        #expect(problems.count == 1 && problems[0].contains(expected), "\(problems)")
    }

    @Test("the app needs its Apple ID, by which the App Store names it")
    func appAppleID() {
        let (_, problems) = Self.read("- message: \(Self.id)", app: "keyID: ABCDEFGHIJ")
        #expect(
            problems.count == 1 && problems[0].contains("retention messages need the app's appAppleID"), "\(problems)")
    }

    @Test("a case after one that is not shown to everyone can be reached")
    func reachable() {
        for first in [
            "message: {en: \(Self.id)}", "alternateProduct: {productID: basic, message: \(Self.id)}",
            "message: {Production: \(Self.id)}",
        ] {
            #expect(Self.read("- \(first)\n- {rule: loyalty, message: \(Self.id)}").problems == [], "\(first)")
        }
    }
}

extension RetentionFileTests {
    @Test("a last case with a rule is allowed, and doctor recommends one without")
    func recommendation() throws {
        func warnings(_ cases: String) throws -> [String] {
            CatalogueLint.warnings(about: try #require(Self.read(cases).file.catalogue)).map(\.error)
        }
        let expected =
            "com.example.app retention: the last case needs facts about the customer. If no case holds, or no decision "
            + "is possible in time, the App Store shows a message of App Store Connect, perhaps with a discount, else the "
            + "default message, else nothing"
        #expect(try warnings("- {rule: loyalty, message: \(Self.id)}").contains(expected))
        #expect(try !warnings("- message: \(Self.id)").contains(expected))
    }
}
