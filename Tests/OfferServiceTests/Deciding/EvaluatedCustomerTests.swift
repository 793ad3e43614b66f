import OfferCore
import OfferEligibility
import StoreTestSupport
import SubscriberStore
import TestSupport
import Testing

@testable import OfferService
@testable import SubscriberSync

@Suite("What a decision rests on when the App Store does not answer")
struct EvaluatedCustomerTests {
    private static let now = Sample.day(10)

    private static func customer(
        _ facts: [SubscriberFact], new: [SubscriberFact] = [], _ lookUp: RefreshQueue.Outcome,
        freshness: Duration? = nil
    ) throws -> EvaluatedCustomer {
        let named = NamedCustomer(
            NamedCustomer.Name(
                bundleID: Sample.bundleID, identity: .account(.appAccountToken(Sample.token(1)), claiming: nil),
                environment: nil), proofs: nil, unprovenRefresh: .always)
        let app = Catalogue.App(appAppleID: 1, offers: [:], freshness: freshness)
        let stored = StoredCustomer(
            app: Sample.production, facts: facts, teamFacts: [], links: [], exposures: [], events: [],
            grants: [], isComplete: true)
        return try EvaluatedCustomer(
            named, in: Sample.production, app, stored: stored, newFacts: new,
            RefreshOutcomes(customer: lookUp, history: lookUp), at: now)
    }

    private static func reasons(_ condition: Condition, _ customer: EvaluatedCustomer) throws -> [DecisionReason] {
        let monthly = try ProductID(utf8: Array("monthly".utf8))
        let terms = OfferTerms(
            productID: monthly, offerID: try OfferID(utf8: Array("o".utf8)), rule: Rule(name: nil, condition: condition)
        )
        let products = ProductTraits(groups: [monthly: "21012345"])
        return AppRules(products: products).decide(customer.facts, about: terms, at: now).reasons
    }

    private static let never = Condition.test(.redeemed(RedemptionTest(count: Bounds(atMost: 0))))
    private static let retention = Condition.subscription(
        SubscriptionCondition(tests: [.status([.active]), .autoRenew(false)]))

    @Test(
        "a JWS is bound to the customer's own purchase, not to a newer share or seat",
        arguments: [OwnershipType.familyShared, .assigned])
    func binding(ownership: OwnershipType) throws {
        let shared = Sample.transaction("2000", of: "2000", 5, 35) { purchase in
            (purchase.appAccountToken, purchase.ownership) = (Sample.token(1), ownership)
            purchase.subscriptionGroupID = "99"
        }
        let both = try Self.customer(StoreService.subscriber() + [shared], .notNeeded)
        #expect(both.transactionID == Sample.id("1000"))
        #expect(try Self.customer([shared], .notNeeded).transactionID == Sample.id("2000"), "it is the only one")
    }

    @Test("a history that the App Store was to give and did not is not known")
    func history() throws {
        let facts = StoreService.subscriber(autoRenew: false, signed: 9.9)
        let history = Sample.history(of: "1000", at: Self.now)
        #expect(try Self.reasons(Self.never, Self.customer(facts + [history], .notNeeded)) == [])
        #expect(try Self.reasons(Self.never, Self.customer(facts, .notNeeded)).map(\.missing) == [.history])
        let reasons = try Self.reasons(Self.never, Self.customer(facts, .unanswered))
        #expect(reasons.map(\.code) == [.unknown] && reasons.map(\.missing) == [.appStore])
        #expect(reasons.allSatisfy { $0.text.contains("did not answer in time") })
    }

    @Test("the state is not known if what the App Store said last is older than the app accepts, or than a day")
    func state() throws {
        for (signed, freshness, isKnown) in [
            (9.9, nil, true), (9.1, nil, true), (8.9, nil, false), (8.9, .hours(48), true), (9.9, .hours(1), false),
        ] as [(Double, Duration?, Bool)] {
            let facts = StoreService.subscriber(autoRenew: false, signed: signed)
            let customer = try Self.customer(facts, .unanswered, freshness: freshness)
            let reasons = try Self.reasons(Self.retention, customer)
            #expect(reasons.isEmpty == isKnown, "\(signed) \(reasons)")
            if !isKnown { #expect(Set(reasons.map(\.missing)) == [.appStore]) }
            #expect(try Self.reasons(Self.retention, Self.customer(facts, .notNeeded)) == [])
        }
    }

    @Test("an Apple Account of which the App Store says that it has no purchases has used no introductory offer")
    func empty() throws {
        let named = NamedCustomer(
            NamedCustomer.Name(
                bundleID: Sample.bundleID, identity: .boundTransaction(Sample.id("7040")), environment: nil),
            proofs: nil, unprovenRefresh: .withinBudget)
        let app = Catalogue.App(appAppleID: 1, offers: [:])
        for (isEmpty, expected) in [(true, false), (false, nil)] as [(Bool, Bool?)] {
            let customer = try EvaluatedCustomer(
                named, in: Sample.production, app, stored: nil, newFacts: [],
                RefreshOutcomes(customer: .answered(hasNews: false), isEmpty: isEmpty), at: Self.now)
            #expect(customer.facts.state.usedIntroductoryOffer(inGroup: "1") == expected)
        }
        // What is known of it counts all the same.
        let stored = StoredCustomer(
            app: Sample.production,
            facts: [Sample.transaction("1", of: "1") { $0.appTransactionID = Sample.id("7040") }], teamFacts: [],
            links: [], exposures: [], events: [], grants: [], isComplete: true)
        let known = try EvaluatedCustomer(
            named, in: Sample.production, app, stored: stored, newFacts: [],
            RefreshOutcomes(customer: .answered(hasNews: false), isEmpty: true), at: Self.now)
        #expect(known.facts.state.usedIntroductoryOffer(inGroup: "1") == nil)
    }

    @Test("a purchase that was seen stays a witness")
    func witness() throws {
        let facts = StoreService.subscriber(autoRenew: true, signed: 1)
        let customer = try Self.customer(facts, .unanswered)
        #expect(customer.facts.state.everSubscribed == true)
    }
}
