import OfferCore
import OfferService
import Testing

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
                == ["com.example.app p narrow: never the best: whoever gets it also gets wide, which comes first"])
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

    @Test("limits that nobody can reach, and ranks that nothing has, are mistakes")
    func limits() throws {
        #expect(
            try Self.warnings(
                "{offerID: a, rule: save, limits: {perCustomer: {count: 3, every: 90d}, cooldown: 45d}}")
                == ["com.example.app p a: nobody can reach perCustomer: the cooldown leaves time for fewer redemptions"]
        )
        #expect(
            try Self.warnings("{offerID: a, rule: save, limits: {total: 2, outstanding: 3}}")
                == ["com.example.app p a: outstanding is greater than total"])
        #expect(
            try Self.warnings("{offerID: a, rule: upgrade}", product: "price: {USD: 9.99}")
                == ["com.example.app p a: the rule compares ranks, and the product has none"])
    }
}
