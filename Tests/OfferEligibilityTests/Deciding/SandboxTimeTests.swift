import OfferCore
import OfferEligibility
import Testing

@testable import HistoryTestSupport

@Suite("Durations in the sandbox")
struct SandboxTimeTests {
    /// A subscription that the customer cancelled, and that ended on day 0 of the tests' calendar.
    private static func ended(_ environment: AppStoreEnvironment) throws -> CustomerFacts {
        let facts = [
            try TestFacts.transaction("1", of: "1", -1, 0),
            try TestFacts.renewal(signed: 0.0001, .off) { $0.expirationIntent = .cancelled },
            try TestFacts.status(.expired, signed: 0.0001),
        ]
        return CustomerFacts(
            state: SubscriberState(facts, environment, at: .day(1)), environment: environment)
    }

    private static func offer(_ test: SubscriptionTest, limits: OfferLimits = OfferLimits()) throws -> OfferTerms {
        OfferTerms(
            productID: try ProductID("monthly"), offerID: try OfferID(utf8: Array("half".utf8)),
            rule: Rule(name: "r", condition: DecidingSamples.subscription(test)), limits: limits)
    }

    private static func rules(_ offer: OfferTerms, _ rate: SandboxRenewalRate?) throws -> AppRules {
        AppRules(offers: [offer], products: try DecidingSamples.products(), sandboxRenewalRate: rate)
    }

    @Test("a month lasts as long as the rate says, in the sandbox only", arguments: SandboxRenewalRate.allCases)
    func rates(rate: SandboxRenewalRate) throws {
        let offer = try Self.offer(.endedAgo(Bounds(atLeast: .days(30))))
        let rules = try Self.rules(offer, rate)
        let month = try #require(Duration(configured: rate.rawValue))
        func isEligible(after time: Duration, _ rules: AppRules, _ environment: AppStoreEnvironment) throws -> Bool {
            try #require(rules.decide(Self.ended(environment), at: .day(0) + time).first).isEligible
        }
        #expect(try isEligible(after: month, rules, .sandbox))
        #expect(try !isEligible(after: month - .milliseconds(1), rules, .sandbox))
        #expect(try !isEligible(after: .days(30) - .milliseconds(1), rules, .production))
        #expect(try isEligible(after: .days(30), rules, .production))
        let off = try Self.rules(offer, nil)
        #expect(try !isEligible(after: .days(30) - .milliseconds(1), off, .sandbox))
    }

    @Test("a year is an hour at the usual rate")
    func year() {
        #expect(SandboxRenewalRate.fiveMinutes.speed == 8640)
        #expect(Duration.days(360) / SandboxRenewalRate.fiveMinutes.speed == .seconds(3600))
    }

    @Test("the limits of an offer are those of the sandbox, and stay as they are in production")
    func limits() throws {
        let offer = try Self.offer(
            .status([.expired]),
            limits: OfferLimits(perCustomer: .init(count: 2, every: .days(360)), cooldown: .days(30), total: 9))
        let rules = try Self.rules(offer, .fiveMinutes)
        let sandbox = try #require(rules.decide(Self.ended(.sandbox), at: .day(1)).first).offer
        #expect(sandbox.limits.perCustomer == OfferLimits.PerCustomer(count: 2, every: .seconds(3600)))
        #expect(sandbox.limits.cooldown == .seconds(300))
        #expect(sandbox.limits.total == 9 && sandbox.limits.outstanding == offer.limits.outstanding)
        #expect(sandbox.rule == offer.rule && sandbox.priority == offer.priority)
        let production = try #require(rules.decide(Self.ended(.production), at: .day(1)).first).offer
        #expect(production.limits == offer.limits)
    }

    @Test("conditions that need every notification of a time need only those of the shorter one")
    func knownTime() throws {
        let evidence = HistoryEvidence(
            coverage: .init(since: .day(-1), until: .day(1), changesSince: .day(0.95)))
        let facts = [
            try TestFacts.transaction("1", of: "1", 0.9, 2), try TestFacts.renewal(signed: 0.91, .off),
        ]
        let state = SubscriberState(of: SubscriberFacts(facts), environment: .sandbox, evidence: evidence, at: .day(1))
        let customer = CustomerFacts(state: state, environment: .sandbox)
        for (test, expected) in [
            (.autoRenewChanged(to: false, within: .days(60)), Truth.no),
            (.billingErrors(BillingErrorsTest(within: .days(60), count: Bounds(atMost: 0))), .yes),
            (.subscribedFor(Bounds(atLeast: .days(800))), .yes),
        ] as [(SubscriptionTest, Truth)] {
            let condition = DecidingSamples.subscription(test)
            let context = EvaluationContext(
                customer, offering: try ProductID("monthly"), products: try DecidingSamples.products(),
                sandboxSpeed: SandboxRenewalRate.fiveMinutes.speed, at: .day(1))
            #expect(condition.truth(in: context) == expected, "\(test)")
        }
    }
}
