import OfferCore
import OfferEligibility
import Testing

@testable import OfferConfiguration

@Suite("The rules of the configuration file")
struct RulesFileTests {
    private static func read(_ rules: String, offer: String = "{offerID: o, rule: r}") -> ([String], ConfigurationFile)
    {
        let text = """
            apps:
              - bundleID: com.example.app
                products:
                  - {productID: p, offers: [\(offer)]}
            rules:
            \(rules.split(separator: "\n").map { "  " + $0 }.joined(separator: "\n"))
            """
        let (file, problems) = ConfigurationFile.read(Array(text.utf8), name: "file")
        return (problems.map { $0.error + " | " + $0.hint }, file)
    }

    @Test(
        "each condition of the language is read",
        arguments: [
            "all: [{everSubscribed: true}, {refundPending: false}]", "any: [{everSubscribed: true}]",
            "not: {refunded: {within: 90d, reason: app_issue}}", "rule: loyalty",
            "subscription: {status: [active, expired], autoRenew: off, renewals: {atLeast: 11}, group: any}",
            "subscription: {status: expired, endedBecause: cancelled, endedAgo: {atLeast: 7d, atMost: 365d}}",
            "subscription: {renewsTo: [same, com.example.app.basic], endsIn: {atMost: 12h}, subscribedFor: {atLeast: 30d}}",
            #"subscription: {lastPeriod: trial, ownership: purchased, priceIncrease: pending, group: "21012345"}"#,
            "subscription: {pendingOffer: false, product: [a, b]}", "subscription: {pendingOffer: o, rank: highest}",
            "usedIntroductoryOffer: false", "refunded: true", "redeemed: {offer: o, within: 365d, count: {atLeast: 1}}",
            "redeemed: false", "winBackOffers: none", "winBackOffers: [a, b]", "owns: com.example.app.lifetime",
            #"originalAppVersion: {before: "3.0"}"#, "originalPurchase: {before: 2024-01-01}",
            "fact: {name: episodesWatched, atLeast: 40}", "fact: {name: careTicket, exists: true}",
            "fact: {name: tier, in: [gold, 3, true]}", "fact: {name: since, after: 2024-01-01}",
            "date: {from: 2026-11-20, until: 2026-12-01}", "share: {of: 0.9, by: winback_2026}", "environment: Sandbox",
            "fact: {name: trialEnds, next: 30d}", "fact: {name: seen, last: 7d, next: 1h}",
            "fact: {name: d, within: 30d}",
            "shown: {offer: o, within: 7d, count: {atMost: 2}}", "not: {shown: true}", "dismissed: false",
            "not: {dismissed: {offer: o, within: 30d, count: 2}}", "firstShown: {within: 1d}",
            "subscription: {autoRenewChanged: {to: off, within: 3d}}", "subscription: {billingErrors: {within: 365d}}",
            "bought: {product: season_pass, within: 365d}", "not: {bought: {product: [a, b]}}",
            "subscription: {paidFor: {atLeast: 365d}}",
            "subscription: {billingPlan: [MONTHLY, BILLED_UPFRONT], commitmentEndsIn: {atMost: 30d}}",
            "subscription: {commitmentPeriod: {atLeast: 11}, ownership: [assigned, purchased]}",
            "subscription: {billingErrors: 0}", "subscription: {billingErrors: {count: {atMost: 1}}}",
        ])
    func language(condition: String) {
        let (problems, file) = Self.read("r: {\(condition)}")
        #expect(problems == [])
        #expect(file.catalogue?.apps.values.first?.rules.offers.first?.rule.name == "r")
        #expect(file.rules.keys.sorted() == ["r"] && file.needsStore)
    }

    @Test("a purchase needs a product", arguments: ["{within: 365d}", "{product: a, count: 2}", "a", "{}"])
    func bought(value: String) {
        #expect(Self.read("r: {bought: \(value)}").0.count == 1)
    }

    @Test("the renewal rate of the sandbox is one of Apple's, for an app with data in the sandbox")
    func sandboxRenewalRate() {
        func read(_ members: String) -> (rate: SandboxRenewalRate?, problems: [String]) {
            let text = "apps: [{bundleID: a, products: [], \(members)}]"
            let (file, problems) = ConfigurationFile.read(Array(text.utf8), name: "file")
            return (file.catalogue?.apps.values.first?.rules.sandboxRenewalRate, problems.map(\.error))
        }
        #expect(read("environments: [Sandbox]") == (nil, []))
        for rate in SandboxRenewalRate.allCases {
            #expect(read("sandboxRenewalRate: \(rate.rawValue)") == (rate, []))
        }
        #expect(read("sandboxRenewalRate: 7m").problems.count == 1)
        let production = read("appAppleID: 1, environments: [Production], sandboxRenewalRate: 5m").problems
        #expect(production.count == 1 && production[0].contains("the app has no data in the sandbox"))
    }

    @Test("offers that are not promotional count as such only if the app says so")
    func countedOfferTypes() {
        for (members, expected) in [
            ("", []), (", countRetentionOffers: true", [.retention]), (", countWinBackOffers: true", [.winBack]),
            (", countOfferCodes: true, countWinBackOffers: false", [.offerCode]),
            (", countOfferCodes: true, countRetentionOffers: true", [.offerCode, .retention]),
        ] as [(String, Set<OfferType>)] {
            let text = "apps: [{bundleID: a, products: []\(members)}]"
            let (file, problems) = ConfigurationFile.read(Array(text.utf8), name: "file")
            #expect(problems.isEmpty && file.catalogue?.apps.values.first?.rules.countedOfferTypes == expected)
        }
    }

    @Test("the billing plan of an offer is one of Apple's values", arguments: ["monthly", "[MONTHLY]", "~", "\"\""])
    func billingPlan(value: String) {
        let (problems, _) = Self.read(
            "r: {everSubscribed: true}", offer: "{offerID: o, rule: r, billingPlan: \(value)}")
        #expect(problems.count == 1 && problems[0].contains("write BILLED_UPFRONT or MONTHLY"), "\(problems)")
    }

    @Test(
        "a condition without content is an error, and never a rule that fits everyone",
        arguments: ["{}", "[]", "\"\"", "~"])
    func emptyConditions(value: String) {
        let ofCustomer = CustomerTest.kinds.map { "\($0.name): \(value)" }
        let ofSubscription = SubscriptionTest.kinds.map { "subscription: {\($0.name): \(value)}" }
        let groups = ["all", "any", "not", "subscription", "rule"].map { "\($0): \(value)" }
        for condition in ofCustomer + ofSubscription + groups {
            #expect(Self.read("r: {\(condition)}").0 != [], "\(condition)")
        }
        #expect(Self.read("r: \(value)").0 != [])
        #expect(Self.read("r: {everSubscribed: true}", offer: "{offerID: o, rule: \(value)}").0 != [])
    }

    @Test(
        "an error names the line, the path, what was found, and what would be valid",
        arguments: [
            (
                "{status: actve}",
                "file, line 6: rules.r.subscription.status: \"actve\" is not valid here | write active, billing"
            ),
            ("{renewals: {atLeast: 9, atMost: 3}}", "rules.r.subscription.renewals: atLeast is greater than atMost"),
            (
                "{statuss: active}",
                "rules.r.subscription: a subscription has no member \"statuss\" | did you mean status?"
            ),
            (
                "{endedAgo: {atLeast: 7 days}}",
                "rules.r.subscription.endedAgo.atLeast: \"7 days\" is not valid here | write a dur"
            ),
            ("{autoRenew: maybe}", "rules.r.subscription.autoRenew: \"maybe\" is not valid here | write on or off"),
            (
                "{group: premium}",
                "rules.r.subscription.group: \"premium\" is not valid here | write any, or a subscriptionGroupID"
            ),
            ("{}", "rules.r.subscription: the condition requires nothing"),
            ("[active]", "rules.r.subscription: a list is not valid here"),
        ])
    func errors(subscription: String, expected: String) {
        let (problems, _) = Self.read("r: {subscription: \(subscription)}")
        #expect(problems.count == 1 && problems[0].contains(expected), "\(problems)")
    }

    @Test(
        "other mistakes are named too",
        arguments: [
            ("r: {all: []}", "rules.r.all: the list is empty"),
            ("r: {all: [{everSubscribed: true}, {refundPending: maybe}]}", "rules.r.all[1].refundPending: \"maybe\""),
            ("r: {everSubscribed: true, refunded: true}", "rules.r: the condition has several members"),
            ("r: {rule: winback}", "rules.r.rule: there is no rule \"winback\" | did you mean win_back?"),
            ("r: {rule: s}\ns: {not: {rule: r}}", "the rule contains itself: r → s → r"),
            ("r: {fact: {exists: true}}", "rules.r.fact: fact needs a name"),
            ("r: {fact: {name: a, is: 1, exists: true}}", "rules.r.fact: the fact has more than one test"),
            ("r: {share: {of: 2, by: x}}", "rules.r.share.of: \"2\" is not valid here | write a number above 0"),
            ("r: {date: {from: 2026-12-01, until: 2026-11-01}}", "rules.r.date: from is not before until"),
            ("r: {date: {from: 2026-02-30}}", "rules.r.date.from: \"2026-02-30\" is not valid here"),
            ("r: {originalAppVersion: {before: three}}", "rules.r.originalAppVersion.before: \"three\""),
            ("r: {wasNice: true}", "rules.r: a condition has no member \"wasNice\" | known names: all, any"),
            ("r: {redeemed: {count: {}}}", "rules.r.redeemed.count: a mapping is not valid here"),
            ("r: on", "rules.r: \"on\" is not valid here"),
            ("r: {fact: {name: f, atMost: nan}}", "rules.r.fact.atMost: \"nan\" is not valid here"),
            ("r: {shown: {within: 7d}}", "shown may only limit an offer, because apps can report any number"),
            ("r: {not: {firstShown: {within: 7d}}}", "firstShown may only limit an offer"),
            ("r: {not: {rule: s}}\ns: {dismissed: {count: {atMost: 2}}}", "dismissed may only limit an offer"),
            (
                "r: {not: {shown: {count: 50}}}",
                "rules.r.not.shown.count: \"50\" is not valid here | write numbers below 50"
            ),
            ("r: {firstShown: {offer: o}}", "rules.r.firstShown: firstShown needs within"),
            ("r: {firstShown: {within: 1d, offers: o}}", "rules.r.firstShown: firstShown has no member"),
            ("r: {subscription: {autoRenewChanged: {to: off}}}", "autoRenewChanged needs to and within"),
            ("r: {fact: {name: f, within: 1d, next: 2d}}", "rules.r.fact: the fact has more than one test"),
            ("r: {fact: {name: f, atLeast: inf}}", "rules.r.fact.atLeast: \"inf\" is not valid here"),
        ])
    func mistakes(rules: String, expected: String) {
        let (problems, _) = Self.read(rules)
        #expect(problems.contains { $0.contains(expected) }, "\(problems)")
    }

    @Test("reports from apps test neither introductory offers nor cases without an offer")
    func reports() {
        for (introductory, message, isValid) in [
            ("everSubscribed: true", "everSubscribed: true", true), ("rule: limited", "everSubscribed: true", false),
            ("everSubscribed: true", "rule: limited", false),
        ] {
            let yaml = """
                apps:
                  - bundleID: com.example.app
                    appAppleID: 1234567890
                    introductoryOffers: {rule: {\(introductory)}}
                    retention:
                      - rule: {\(message)}
                        message: 5d3c8a0e-7b1f-4c2d-9e6a-0f1b2c3d4e5f
                    products: [{productID: p, offers: [{offerID: o, rule: limited}]}]
                rules:
                  limited: {not: {shown: {offer: o, count: 3}}}
                """
            let problems = ConfigurationFile.read(Array(yaml.utf8), name: "file").problems.map(\.error)
            #expect(problems.contains { $0.contains("reports") } == !isValid, "\(problems)")
        }
    }

    @Test("a retention case that reports could end is followed by no other offer", arguments: [true, false])
    func reportsBeforeOffers(isLast: Bool) {
        let offers = isLast ? ["a", "b"] : ["b", "a"]
        let cases = offers.map { offer in
            """
                  - promotionalOffer:
                      {productID: p, offerID: \(offer), message: 5d3c8a0e-7b1f-4c2d-9e6a-0f1b2c3d4e5f}
                    rule: {everSubscribed: true}
            """
        }
        let yaml = """
            apps:
              - bundleID: com.example.app
                appAppleID: 1234567890
                retention:
            \(cases.joined(separator: "\n"))
                products:
                  - productID: p
                    subscriptionGroupID: "1"
                    offers: [{offerID: a, rule: {everSubscribed: true}}, {offerID: b, rule: {not: {shown: {count: 3}}}}]
            """
        let problems = ConfigurationFile.read(Array(yaml.utf8), name: "file").problems.map(\.error)
        #expect(problems.contains { $0.contains("lead to this offer") } == !isLast, "\(problems)")
    }

    @Test("a sample has one size in all rules of an app", arguments: [("0.5", "t"), ("0.4", "s"), ("0.5", "s")])
    func sampleSizes(of: String, by: String) {
        let yaml = """
            apps:
              - bundleID: com.example.app
                appAppleID: 1234567890
                introductoryOffers: {rule: {not: {share: {of: \(of), by: \(by)}}}}
                products: [{productID: p, offers: [{offerID: o, rule: {share: {of: 0.5, by: s}}}]}]
            """
        let problems = ConfigurationFile.read(Array(yaml.utf8), name: "file").problems.map(\.error)
        let expected = "apps[0]: the sample s has different sizes: 0.4 and 0.5"
        #expect(of == "0.4" ? problems.contains { $0.contains(expected) } : problems.isEmpty, "\(problems)")
    }

    @Test(
        "a rule that can never hold is refused",
        arguments: [
            "all: [{subscription: {status: active}}, {subscription: {status: expired}}]",
            "subscription: {status: active, endedBecause: cancelled}",
            "subscription: {status: expired, endsIn: {atMost: 3d}}",
            "all: [{everSubscribed: true}, {not: {everSubscribed: true}}]", "everSubscribed: false",
            "all: [{usedIntroductoryOffer: true}, {usedIntroductoryOffer: false}]",
            "all: [{subscription: {renewals: {atLeast: 5}}}, {subscription: {renewals: {atMost: 4}}}]",
            "all: [{environment: Sandbox}, {environment: Production}]", "subscription: {ownership: family_shared}",
            "any: [{subscription: {status: active, endedBecause: billing}}, {all: [{refundPending: true}, {refundPending: false}]}]",
            "subscription: {autoRenew: off, renewsTo: same}",
            "all: [{subscription: {autoRenew: off}}, {subscription: {renewsTo: lower}}]",
            "all: [{subscription: {renewsTo: same}}, {subscription: {renewsTo: lower}}]",
            "all: [{subscription: {ownership: purchased}}, {subscription: {ownership: family_shared}}]",
            "all: [{subscription: {rank: lower}}, {subscription: {rank: highest}}]",
            "all: [{subscription: {priceIncrease: pending}}, {subscription: {priceIncrease: accepted}}]",
            "all: [{subscription: {pendingOffer: true}}, {subscription: {pendingOffer: false}}]",
            "all: [{subscription: {pendingOffer: a}}, {subscription: {pendingOffer: false}}]",
            "all: [{subscription: {pendingOffer: a}}, {subscription: {pendingOffer: b}}]",
            "all: [{winBackOffers: none}, {winBackOffers: any}]", "all: [{winBackOffers: none}, {winBackOffers: a}]",
            "all: [{date: {until: 2026-01-01}}, {date: {from: 2026-01-01}}]",
            #"all: [{originalAppVersion: {before: "2"}}, {originalAppVersion: {from: "2.0"}}]"#,
            "all: [{originalPurchase: {before: 2024-01-01}}, {originalPurchase: {from: 2024-01-02}}]",
            "all: [{redeemed: true}, {redeemed: false}]",
            "all: [{redeemed: {offer: a, count: {atLeast: 2}}}, {redeemed: {offer: a, count: {atMost: 1}}}]",
            "all: [{fact: {name: f, atLeast: 5}}, {fact: {name: f, atMost: 4}}]",
            "all: [{fact: {name: f, is: a}}, {fact: {name: f, is: b}}]",
            "all: [{fact: {name: f, exists: false}}, {fact: {name: f, is: b}}]",
            "all: [{fact: {name: f, exists: false}}, {fact: {name: f, exists: true}}]",
            "all: [{fact: {name: f, is: 3}}, {fact: {name: f, atLeast: 4}}]",
            "all: [{fact: {name: f, after: 2026-01-01}}, {fact: {name: f, before: 2025-01-01}}]",
        ])
    func contradictions(condition: String) {
        let (problems, _) = Self.read("r: {\(condition)}")
        #expect(problems.contains { $0.contains("this can never hold") }, "\(problems)")
    }

    @Test("two statuses under any, or of different groups, are no contradiction")
    func noContradictions() {
        for condition in [
            "any: [{subscription: {status: active}}, {subscription: {status: expired}}]",
            #"all: [{subscription: {status: active, group: "1"}}, {subscription: {status: expired, group: "2"}}]"#,
            "all: [{subscription: {status: active, group: any}}, {subscription: {status: expired, group: any}}]",
            "all: [{fact: {name: f, atLeast: 5}}, {fact: {name: g, atMost: 4}}]",
            "all: [{redeemed: {offer: a, count: {atLeast: 2}}}, {redeemed: {offer: b, count: {atMost: 1}}}]",
            "all: [{subscription: {renewsTo: lower}}, {subscription: {renewsTo: yearly}}]",
            "all: [{date: {from: 2026-01-01}}, {date: {until: 2026-01-02}}]",
            "all: [{winBackOffers: a}, {winBackOffers: any}]",
            "all: [{fact: {name: f, is: 4}}, {fact: {name: f, atLeast: 4}}]",
        ] {
            #expect(Self.read("r: {\(condition)}").0 == [])
        }
    }

    @Test("an offer has a rule by name or in place, a priority and limits; a plain ID has none")
    func offers() throws {
        let offer = """
            {offerID: o, rule: {everSubscribed: true}, priority: 20, price: {USD: 4.99}, signedElsewhere: true,
             limits: {perCustomer: {count: 1, every: 365d}, cooldown: 30d, total: 10000}}, plain, {offerID: capped, limits: {total: 5}}
            """
        let (problems, file) = Self.read("r: {everSubscribed: true}", offer: offer)
        #expect(problems == [])
        let rules = try #require(file.catalogue?.apps.values.first?.rules)
        #expect(rules.offers.count == 2)
        let terms = rules.offers[0]
        #expect(terms.rule.name == nil && terms.priority == 20 && terms.isSignedElsewhere)
        #expect(terms.limits.perCustomer == .init(count: 1, every: .days(365)) && terms.limits.cooldown == .days(30))
        #expect(terms.limits.total == 10_000 && terms.limits.outstanding == 1)
        #expect(
            rules.offers[1].rule.condition == .test(.everSubscribed(true)) && rules.offers[1].limits.outstanding == 1)
        #expect(file.catalogue?.apps.values.first?.offers.values.first?.count == 3)
    }

    @Test("an offer with a price that its mode cannot have is refused, and limits that contradict each other")
    func prices() {
        let text = """
            apps:
              - bundleID: a
                products:
                  - productID: p
                    price: {USD: 9.99}
                    offers:
                      - {offerID: o, mode: pay_as_you_go, price: {USD: 9.99}}
                      - {offerID: f, mode: free_trial, price: {USD: 0.99}}
                      - {offerID: u, mode: pay_up_front, periods: 3, price: {USD: 19.99}}
                      - {offerID: n, price: {USD: 19.99}}
                      - {offerID: m, mode: monthly, periods: 0}
                  - {productID: q, offers: [{offerID: o, limits: {perCustomer: 3, total: 2}}]}
            """
        let (_, problems) = ConfigurationFile.read(Array(text.utf8), name: "file")
        #expect(problems.count == 5, "\(problems)")
        let errors = problems.map(\.error).joined(separator: "\n")
        for error in [
            "offers[0]: the offer costs 9.99 USD for each period, and the product 9.99",
            "offers[1]: the offer costs 0.99 USD, but is a free trial", "offers[4].mode: \"monthly\" is not valid here",
            "offers[4].periods: \"0\" is not valid here",
        ] { #expect(errors.contains("apps[0].products[0].\(error)"), "\(errors)") }
        #expect(problems.last?.error.contains("perCustomer is greater than total") == true)
    }

    @Test("the built-in rules are those of the talk, and a rule of the file replaces one")
    func builtIn() {
        #expect(
            BuiltInRules.conditions.keys.sorted() == [
                "app_store_default", "customer_service", "downgrade", "lost_to_price_increase", "loyalty", "retention",
                "save",
                "upgrade", "win_back",
            ])
        let (problems, file) = Self.read("loyalty: {everSubscribed: true}\nr: {rule: loyalty}")
        #expect(problems == [])
        #expect(file.rules["r"] == .rule("loyalty", .test(.everSubscribed(true))))
    }
}
