import OfferCore
import OfferEligibility
import Testing

@testable import OfferConfiguration

@Suite("Warnings about the catalogue")
struct CatalogueLintTests {
    private static func warnings(_ offers: String, product: String = "rank: 1") throws -> [String] {
        let text = """
            apps:
              - bundleID: com.example.app
                products:
                  - {productID: p, subscriptionGroupID: "1", \(product), offers: [\(offers)]}
            """
        let (file, problems) = ConfigurationFile.read(Array(text.utf8), name: "file")
        try #require(problems == [], "\(problems)")
        return CatalogueLint.warnings(about: try #require(file.catalogue)).map(\.error)
    }

    @Test("what is plain has no warning")
    func plain() throws {
        #expect(
            try Self.warnings(
                """
                a, {offerID: b, rule: win_back, priority: 1}, {offerID: c, rule: retention}, {offerID: d, rule: upgrade},
                {offerID: e, rule: {redeemed: {offer: b}}}
                """) == [])
    }

    @Test("an offer behind another one that its customers also get is never the best")
    func neverBest() throws {
        let narrow = "{offerID: narrow, rule: {subscription: {status: active, autoRenew: off, renewals: {atLeast: 3}}}}"
        #expect(
            try Self.warnings("{offerID: wide, rule: retention, priority: 1}, " + narrow)
                == [
                    "com.example.app p narrow: it is never the best offer: every customer who gets it also gets wide, "
                        + "which comes first"
                ])
        // The other way round, the narrow one comes first.
        #expect(try Self.warnings("{offerID: wide, rule: retention, priority: -1}, " + narrow) == [])
        // With a limit, the wide one may be used up.
        #expect(
            try Self.warnings("{offerID: wide, rule: retention, priority: 1, limits: {perCustomer: 1}}, " + narrow)
                == [])
    }

    @Test("two offers for the same customers need an order")
    func same() throws {
        #expect(
            try Self.warnings(
                "{offerID: a, rule: save, limits: {perCustomer: 1}}, {offerID: b, rule: save, limits: {perCustomer: 1}}"
            )
                == ["com.example.app p b: the same customers get a, with the same priority"])
    }

    @Test("a rule that names what the app does not have is a mistake")
    func names() throws {
        #expect(
            try Self.warnings("{offerID: a, rule: {redeemed: {offer: [a, none]}}}")
                == ["com.example.app p a: the rule names the offer none, which the app does not have"])
        #expect(
            try Self.warnings("{offerID: a, rule: {subscription: {status: active, renewsTo: q, product: r}}}")
                == ["q", "r"].map {
                    "com.example.app p a: the rule names the product \($0), which the app does not list"
                })
        #expect(
            try Self.warnings(#"{offerID: a, rule: {subscription: {status: active, group: "2"}}}"#)
                == ["com.example.app p a: the rule names the group 2, which no product of the app has"])
    }

    @Test("a rule about a product of another group is no mistake, unless nothing names its group")
    func products() throws {
        func warnings(_ rest: String) throws -> [String] {
            try Self.warnings(
                "{offerID: a, rule: {subscription: {product: q, status: active}}}]}\n      - {productID: q, \(rest)offers: ["
            )
        }
        #expect(try warnings(#"subscriptionGroupID: "2", "#) == [])
        #expect(
            try warnings("") == [
                "com.example.app p a: the rule names the product q, which has no subscriptionGroupID, so the service cannot tell "
                    + "that a customer does not subscribe to it"
            ])
        // The two tests are about one subscription, so the second offer never comes first.
        #expect(
            try Self.warnings(
                """
                {offerID: wide, priority: 1, rule: {subscription: {product: p, status: active}}},
                {offerID: narrow, rule: {subscription: {product: p, status: active, autoRenew: off}}}
                """) == [
                    "com.example.app p narrow: it is never the best offer: every customer who gets it also gets wide, "
                        + "which comes first"
                ])
    }

    @Test("a price that may be meant is a warning: one for all periods together, or of an unknown mode")
    func prices() throws {
        func warnings(_ offer: String) throws -> [String] {
            try Self.warnings("{offerID: a, \(offer)}", product: "price: {USD: 9.99, EUR: 10}")
        }
        for offer in [
            "mode: pay_up_front, periods: 3, price: {USD: 19.99, EUR: 29.99}", "mode: pay_up_front, price: {USD: 99}",
            "mode: pay_as_you_go, periods: 3, price: {USD: 9.98}", "price: {USD: 9.98}", "price: {GBP: 99}",
            "mode: free_trial", "mode: free_trial, price: {USD: 0}",
        ] { #expect(try warnings(offer) == [], "\(offer)") }
        #expect(
            try warnings("mode: pay_up_front, periods: 3, price: {USD: 29.97, EUR: 31}")
                == [
                    "com.example.app p a: the offer costs 31.0 EUR, and 3 periods of the product 30.0",
                    "com.example.app p a: the offer costs 29.97 USD, and 3 periods of the product 29.97",
                ])
        #expect(
            try warnings("price: {USD: 19.99}")
                == ["com.example.app p a: the offer costs 19.99 USD, and the product 9.99"])
        #expect(
            try warnings("rule: save, periods: 3, price: {USD: 9.99}")
                == ["com.example.app p a: the offer costs 9.99 USD, and the product 9.99"])
    }

    @Test("an app with rules is told once what StoreKit 1 lacks in the sandbox, unless its file says what it wants")
    func sandbox() throws {
        func notes(_ app: String, rule: String = ", rule: save") throws -> [String] {
            let text = """
                apps:
                  - bundleID: com.example.app
                    \(app)
                    products: [{productID: p, offers: [{offerID: a\(rule)}, {offerID: b\(rule)}]}]
                """
            let (file, problems) = ConfigurationFile.read(Array(text.utf8), name: "file")
            try #require(problems == [], "\(problems)")
            return CatalogueLint.notes(about: try #require(file.catalogue)).map { $0.error + " | " + $0.hint }
        }
        let found = try notes("appAppleID: 1234567890")
        #expect(found.count == 1 && found[0].contains("com.example.app: in the sandbox"))
        #expect(found.first?.contains("set sandboxV1: true") == true)
        #expect(try notes("ownership: first").count == 1)
        #expect(try notes("sandboxV1: true") == [])
        #expect(try notes("sandboxV1: false") == [])
        #expect(try notes("ownership: first", rule: "") == [], "offers without a rule get a signature")
        #expect(try notes("appAppleID: 1\n    environments: [Production]") == [])
    }

    @Test(
        "limits for each customer need more than a username",
        arguments: ["perCustomer: 1", "cooldown: 30d", "total: 5"])
    func usernames(limit: String) throws {
        let text = """
            apps:
              - bundleID: com.example.app
                sandboxV1: true
                products: [{productID: p, offers: [{offerID: a, rule: win_back, limits: {\(limit)}}]}]
            """
        let (file, problems) = ConfigurationFile.read(Array(text.utf8), name: "file")
        try #require(problems == [], "\(problems)")
        let notes = CatalogueLint.notes(about: try #require(file.catalogue)).map(\.error)
        #expect(
            notes.filter { $0.contains("known only by an applicationUsername") }.count == (limit == "total: 5" ? 0 : 1))
    }

    @Test("rules that need to know what never happened are named, unless the App Store is asked")
    func histories() throws {
        func rules(_ condition: String, asking: Set<BundleID> = []) throws -> [String] {
            let text = """
                apps:
                  - bundleID: com.example.app
                    sandboxV1: true
                    products: [{productID: p, offers: [{offerID: a, rule: \(condition)}]}]
                """
            let (file, problems) = ConfigurationFile.read(Array(text.utf8), name: "file")
            try #require(problems == [], "\(problems)")
            return CatalogueLint.notes(about: try #require(file.catalogue), asking: asking).map(\.error)
        }
        for condition in [
            "{not: {owns: x}}", "{refunded: false}",
            "{all: [{everSubscribed: true}, {not: {refunded: {within: 90d}}}]}",
            "{not: {redeemed: true}}", "{redeemed: {count: {atMost: 0}}}",
            "{any: [{usedIntroductoryOffer: false}, {not: {owns: x}}]}",
            "{not: {subscription: {group: any, status: active}}}",
        ] {
            let found = try rules(condition)
            #expect(found.count == 1 && found[0].hasSuffix("never happened: p a"), "\(condition) \(found)")
            let app = try BundleID(utf8: Array("com.example.app".utf8))
            #expect(try rules(condition, asking: [app]) == [], "\(condition)")
        }
        for condition in [
            "win_back", "retention", "loyalty", "{owns: x}", "{refunded: true}", "{not: {redeemed: {offer: a}}}",
            "{any: [{not: {owns: x}}, {everSubscribed: true}]}", "{not: {all: [{owns: x}, {refundPending: true}]}}",
        ] {
            #expect(try rules(condition) == [], "\(condition)")
        }
    }

    @Test("limits that nobody can reach, and ranks that nothing has, are mistakes")
    func limits() throws {
        #expect(
            try Self.warnings(
                "{offerID: a, rule: save, limits: {perCustomer: {count: 3, every: 90d}, cooldown: 45d}}")
                == ["com.example.app p a: perCustomer is unreachable: the cooldown allows fewer redemptions"]
        )
        #expect(
            try Self.warnings("{offerID: a, rule: save, limits: {total: 2, outstanding: 3}}")
                == ["com.example.app p a: outstanding is greater than total"])
        #expect(
            try Self.warnings("{offerID: a, rule: upgrade}", product: "price: {USD: 9.99}")
                == ["com.example.app p a: the rule compares ranks, but the product has none"])
    }
}
