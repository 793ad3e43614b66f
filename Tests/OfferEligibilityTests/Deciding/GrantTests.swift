import OfferCore
import OfferEligibility
import Testing

@testable import HistoryTestSupport

@Suite("A grant replaces the rule of an offer")
struct GrantTests {
    private static let never = Condition.test(.everSubscribed(false))
    private static let now = DecidingSamples.now

    static func grant(
        of offer: String = "half", product: String = "monthly", made: Double = 39, expires: Double = 50,
        liftsLimits: Bool = false, approval: OfferGrant.Approval = .notNeeded, withdrawn: Bool = false
    ) throws -> OfferGrant {
        let ann = OfferGrant.Person("Ann")
        return OfferGrant(
            id: UUIDText(high: 7, low: 7), subject: .customer(.appTransactionID(try TransactionID("A"))), account: nil,
            productID: try ProductID(product), offerID: try OfferID(utf8: Array(offer.utf8)),
            purpose: OfferGrant.Purpose(reason: "goodwill"), liftsLimits: liftsLimits, maker: ann, at: .day(made),
            expiresAt: .day(expires), approval: approval,
            withdrawal: withdrawn ? OfferGrant.Act(by: ann, at: .day(made)) : nil)
    }

    private func customer(_ facts: [SubscriberFact], _ grants: OfferGrant...) -> CustomerFacts {
        CustomerFacts(
            state: SubscriberState(facts, .production, at: Self.now), environment: .production, grants: grants)
    }

    private func active(_ change: (inout Purchase) throws -> Void = { _ in }) throws -> [SubscriberFact] {
        try DecidingSamples.facts(renewal: TestFacts.renewal(of: "1", signed: 1, .on), change)
    }

    private func rules(
        _ limits: OfferLimits = OfferLimits(), _ condition: Condition = never, _ grants: GrantPolicy? = GrantPolicy()
    ) throws -> AppRules {
        let terms = try DecidingSamples.terms(condition)
        let refused = OfferTerms(
            productID: terms.productID, offerID: terms.offerID, rule: terms.rule, limits: limits)
        let open = OfferTerms(
            productID: terms.productID, offerID: try OfferID(utf8: Array("open".utf8)),
            rule: Rule(name: "anyone", condition: .test(.everSubscribed(true))), priority: 10)
        return AppRules(offers: [refused, open], grants: grants, products: try DecidingSamples.products())
    }

    private func half(
        _ facts: CustomerFacts, _ limits: OfferLimits = OfferLimits(), _ condition: Condition = never,
        _ grants: GrantPolicy? = GrantPolicy()
    ) throws -> OfferDecision {
        let decisions = try rules(limits, condition, grants).decide(facts, at: Self.now)
        return try #require(decisions.first { $0.offer.offerID.text.description == "half" })
    }

    @Test("the customer of the grant gets the offer, under the rule grant; nobody else does")
    func replaced() throws {
        let granted = try half(customer(active(), Self.grant()))
        #expect(granted.isEligible && granted.offer.rule.name == "grant")
        #expect(granted.offer.grant == UUIDText(high: 7, low: 7))
        let other = try half(customer(active()))
        #expect(!other.isEligible && other.offer.rule.name == "r" && other.offer.grant == nil)
        let elsewhere = try half(customer(active(), Self.grant(of: "open"), Self.grant(product: "yearly")))
        #expect(!elsewhere.isEligible, "grants of another offer or product")
    }

    @Test("a grant that is withdrawn, expired or not approved leaves the decision to the rule")
    func notInForce() throws {
        let second = OfferGrant.Act(by: OfferGrant.Person("Bob"), at: .day(39))
        for (grant, isEligible) in [
            (try Self.grant(withdrawn: true), false), (try Self.grant(expires: 40), false),
            (try Self.grant(approval: .needed), false), (try Self.grant(approval: .given(second)), true),
            (try Self.grant(expires: 40.01), true),
        ] {
            let decision = try half(customer(active(), grant))
            #expect(decision.isEligible == isEligible && decision.offer.rule.name == (isEligible ? "grant" : "r"))
        }
    }

    @Test("a redemption after the grant was made uses it, one before does not")
    func used() throws {
        let redeemed = try active { purchase in
            purchase.offer = AppliedOffer(type: .promotional, identifier: "half")
        }
        #expect(try half(customer(redeemed, Self.grant(made: 1))).isEligible)
        #expect(try !half(customer(redeemed, Self.grant(made: -1))).isEligible)
        let minute = 1.0 / 1440
        #expect(try !half(customer(redeemed, Self.grant(made: 5 * minute))).isEligible, "the clock was ahead")
        #expect(try half(customer(redeemed, Self.grant(made: 6 * minute))).isEligible)
    }

    @Test("turning auto-renew off and on during the offer does not use a new grant of it")
    func uncertain() throws {
        let offer = AppliedOffer(type: .promotional, identifier: "half")
        var announcement = Renewal(productID: try ProductID("monthly"), autoRenewStatus: .off)
        announcement.autoRenewProductID = try ProductID("monthly")
        let off = try TestFacts.fact(.firstAnnouncement(announcement), "1", of: "1", signed: .day(38))
        let on = try TestFacts.renewal(of: "1", signed: 39.5) { $0.offer = offer }
        let facts = try DecidingSamples.facts { $0.offer = offer } + [off, on]
        let customer = customer(facts, try Self.grant(made: 39))
        #expect(customer.state.redemptions.map(\.isCertain) == [true, false], "\(customer.state.redemptions)")
        #expect(try half(customer).offer.grant != nil)
    }

    @Test("without grants in the configuration, a stored grant gives nothing")
    func disabled() throws {
        let decision = try half(customer(active(), Self.grant()), OfferLimits(), Self.never, nil)
        #expect(!decision.isEligible && decision.offer.rule.name == "r" && decision.offer.grant == nil)
    }

    @Test("the grant of a personal link counts while the configuration has its campaign, with or without other grants")
    func campaign() throws {
        let sample = try Self.grant()
        let link = MailedLink(
            id: Array(1...8), campaign: "spring", subject: sample.subject, arm: .offered,
            offer: Campaign.Offer(productID: sample.productID, offerID: sample.offerID), madeAt: .day(39),
            expiresAt: .day(50))
        let grant = try #require(link.grant)
        #expect(grant.campaign == "spring")
        func decide(_ grants: GrantPolicy?, _ campaigns: String...) throws -> OfferDecision {
            let links = LinkPolicy(
                teamID: "ABCDE12345", appName: "Example",
                campaigns: campaigns.map { name in
                    let offer = name == "without" ? nil : link.offer
                    return Campaign(
                        name: name == "over" ? "spring" : name == "without" ? "spring" : name, offer: offer,
                        until: name == "over" ? .day(40) : nil)
                })
            let offers = try rules().offers
            let rules = AppRules(
                offers: offers, grants: grants, links: campaigns.isEmpty ? nil : links,
                products: try DecidingSamples.products())
            return try #require(
                rules.decide(customer(active(), grant), at: Self.now).first { $0.offer.offerID == sample.offerID })
        }
        for grants in [nil, GrantPolicy()] {
            let granted = try decide(grants, "spring")
            #expect(granted.isEligible && granted.offer.rule.name == "grant" && granted.offer.campaign == "spring")
            #expect(try !decide(grants, "autumn").isEligible, "the campaign was removed")
            #expect(try !decide(grants, "over").isEligible, "the campaign has ended")
            #expect(try !decide(grants, "without").isEligible, "the campaign no longer has the offer")
            #expect(try !decide(grants).isEligible, "the links were removed")
        }
        let policy = LinkPolicy(teamID: "ABCDE12345", appName: "Example", campaigns: [Campaign(name: "spring")])
        let onlyLinks = AppRules(offers: try rules().offers, links: policy, products: try DecidingSamples.products())
        let decisions = onlyLinks.decide(try customer(active(), sample), at: Self.now)
        #expect(decisions.allSatisfy { $0.offer.grant == nil }, "links do not turn on the grants of persons")
    }

    @Test("a customer in billing retry keeps an offer for such customers, and a grant gives them no other offer")
    func billingRetry() throws {
        let facts = try DecidingSamples.facts(
            renewal: TestFacts.renewal(signed: 30.1) { $0.isInBillingRetryPeriod = true },
            status: TestFacts.status(.billingRetry, signed: 30.1), end: 30)
        let asks = DecidingSamples.subscription(.status([.billingRetry]))
        let granted = try half(customer(facts, Self.grant()), OfferLimits(), asks)
        #expect(granted.isEligible && granted.offer.rule.name == "grant")
        #expect(try half(customer(facts, Self.grant())).codes == [.billingRetry])
    }

    @Test("what is in force under any rule stays in force: a family member, a pending offer, an unknown customer")
    func standing() throws {
        let shared = try half(customer(active { $0.ownership = .familyShared }, Self.grant()))
        #expect(shared.codes.contains(.familyShared))
        let pending = try DecidingSamples.facts(
            renewal: TestFacts.renewal(of: "1", signed: 1, .on) {
                $0.offer = AppliedOffer(type: .promotional, identifier: "third")
            })
        #expect(try half(customer(pending, Self.grant())).codes == [.otherOfferPending])
        #expect(try half(customer([], Self.grant())).codes == [.unknown])
    }

    @Test("a grant is for one use, keeps total, and lifts the customer's limits only if it says so")
    func limits() throws {
        let limits = OfferLimits(perCustomer: .init(count: 1), cooldown: .hours(24), total: 5, outstanding: 4)
        let kept = try half(customer(active(), Self.grant()), limits).offer.limits
        #expect(kept.perCustomer == limits.perCustomer && kept.cooldown == limits.cooldown && kept.total == 5)
        let lifted = try half(customer(active(), Self.grant(liftsLimits: true)), limits).offer.limits
        #expect(lifted.perCustomer == nil && lifted.cooldown == nil && lifted.total == 5)
        #expect(kept.outstanding == 1 && lifted.outstanding == 1)
        let uncapped = try half(customer(active(), Self.grant())).offer.limits
        #expect(uncapped.isCapped && uncapped.outstanding == 1, "each form could be redeemed")
    }

    @Test("a granted offer comes before offers with a higher priority")
    func order() throws {
        let decisions = try rules().decide(customer(active(), Self.grant()), at: Self.now)
        #expect(decisions.map { $0.offer.offerID.text.description } == ["half", "open"])
        let others = try rules().decide(customer(active()), at: Self.now)
        #expect(others.map { $0.offer.offerID.text.description } == ["open", "half"])
    }

    @Test("a customer who is about to cancel sees the granted offer first, with the message of its case or for grants")
    func retention() throws {
        func messages(_ number: UInt64) -> RetentionMessages {
            RetentionMessages(otherwise: .init(otherwise: UUIDText(high: 0, low: number)))
        }
        let offer = RetentionCase.Offer(
            productID: try ProductID("monthly"), offerID: try OfferID(utf8: Array("half".utf8)), form: .v1)
        let cases = [
            RetentionCase(rule: nil, content: .promotionalOffer(offer), messages: messages(1)),
            RetentionCase(rule: nil, content: .message, messages: messages(2)),
        ]
        let view = RetentionView(
            productID: try ProductID("monthly"), locale: RetentionLocale("en-US"), environment: .production)
        func choices(_ cases: [RetentionCase], _ policy: GrantPolicy?, _ facts: CustomerFacts) throws -> [String] {
            let rules = AppRules(
                offers: try rules().offers, retention: cases, grants: policy, products: try DecidingSamples.products())
            return rules.decideRetention(facts, view, at: Self.now).choices.map { choice in
                let number = choice.messageIdentifier.utf8.last.map { String(UnicodeScalar($0)) } ?? ""
                guard case .promotionalOffer(let terms, let form) = choice.content else { return "message \(number)" }
                return "\(terms.rule.name ?? "-") \(form.rawValue) \(number)"
            }
        }
        let granted = try customer(active(), Self.grant())
        #expect(try choices(cases, GrantPolicy(), granted) == ["grant v1 1", "message 2"])
        #expect(try choices([cases[1]], GrantPolicy(messages: messages(3)), granted) == ["grant v2 3", "message 2"])
        #expect(try choices([cases[1]], GrantPolicy(), granted) == ["message 2"], "it has no message")
        let used = try customer(
            active { $0.offer = AppliedOffer(type: .promotional, identifier: "half") }, Self.grant(made: -1))
        // Its rule would allow the offer, but no case before the message shows it.
        let allowed = AppRules(
            offers: [try DecidingSamples.terms(.test(.everSubscribed(true)))], retention: cases.reversed(),
            grants: GrantPolicy(messages: messages(3)), products: try DecidingSamples.products())
        let afterwards = allowed.decideRetention(used, view, at: Self.now)
        #expect(afterwards.choices.map(\.messageIdentifier) == [UUIDText(high: 0, low: 2)])
        #expect(afterwards.offers.isEmpty)
        #expect(try choices(cases, GrantPolicy(messages: messages(3)), customer(active())) == ["message 2"])
    }

    @Test("the state of a grant follows from the ledger")
    func states() throws {
        func signature(at day: Double, until end: Double, _ channel: OfferSource.Channel) throws -> Authorisation {
            Authorisation(
                productID: try ProductID("monthly"), offerID: try OfferID(utf8: Array("half".utf8)),
                state: .outstanding, at: .day(day), expiresAt: .day(end),
                source: OfferSource(rule: nil, channel: channel))
        }
        let signed = try signature(at: 39.5, until: 41, .grant)
        for (grant, authorisations, isRedeemed, state) in [
            (try Self.grant(), [], false, .open), (try Self.grant(approval: .needed), [], false, .awaitingApproval),
            (try Self.grant(), [signed], false, .signed),
            (try Self.grant(), [try signature(at: 39.5, until: 39.9, .grant)], false, .open),
            (try Self.grant(), [try signature(at: 39.5, until: 41, .decision)], false, .open),
            (try Self.grant(), [signed], true, .redeemed),
            (try Self.grant(expires: 40), [], false, .expired), (try Self.grant(expires: 40), [signed], false, .signed),
            (try Self.grant(withdrawn: true), [signed], false, .withdrawn),
            (try Self.grant(withdrawn: true), [signed], true, .redeemed),
        ] as [(OfferGrant, [Authorisation], Bool, OfferGrant.State)] {
            #expect(grant.state(authorisations, isRedeemed: isRedeemed, at: Self.now) == state)
        }
    }
}
