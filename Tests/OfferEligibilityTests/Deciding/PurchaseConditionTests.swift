import OfferCore
import OfferEligibility
import Testing

@testable import HistoryTestSupport

@Suite("Purchases that do not renew, and paid time")
struct PurchaseConditionTests {
    private static func purchase(
        _ id: String, _ day: Double, _ type: ProductType? = .nonRenewingSubscription, product: String = "pass",
        of original: String? = nil, _ change: (inout Purchase) -> Void = { _ in }
    ) throws -> SubscriberFact {
        var purchase = Purchase(productID: try ProductID(product), purchaseDate: .day(day))
        purchase.type = type
        purchase.ownership = .purchased
        purchase.appTransactionID = try TransactionID("A")
        change(&purchase)
        return try TestFacts.fact(.transaction(purchase), id, of: original ?? id, signed: .day(day))
    }

    private static func truth(
        _ facts: [SubscriberFact], within: Duration? = nil, isWhole: Bool = true, familySharable: Set<ProductID> = []
    ) throws -> Truth {
        let all = try facts + DecidingSamples.facts(isWhole: isWhole)
        let state = SubscriberState(
            of: SubscriberFacts(all), environment: .production, familySharable: familySharable, at: DecidingSamples.now)
        let context = try DecidingSamples.context(CustomerFacts(state: state, environment: .production))
        let condition = Condition.test(.bought(BoughtTest([try ProductID("pass")], within: within)))
        let truth = condition.truth(in: context)
        #expect(condition.reasons(truth, in: context).isEmpty == (truth == .yes))
        return truth
    }

    @Test("bought: when, by whom, and not refunded; never needs a complete history")
    func bought() throws {
        #expect(try Self.truth([]) == .no)
        #expect(try Self.truth([], isWhole: false) == .unknown)
        let pass = try Self.purchase("50", 10)
        #expect(try Self.truth([pass], isWhole: false) == .yes)
        #expect(try Self.truth([pass], within: .days(30)) == .yes, "it is day 40")
        #expect(try Self.truth([pass], within: .days(30) - .milliseconds(1)) == .no)
        #expect(try Self.truth([Self.purchase("50", 10, .nonConsumable)]) == .yes)
        #expect(try Self.truth([Self.purchase("50", 10, nil)]) == .yes, "data of 2021 has no type")
        #expect(try Self.truth([Self.purchase("50", 10, product: "other")]) == .no)
        #expect(try Self.truth([Self.purchase("50", 10, .consumable)]) == .no)
        #expect(try Self.truth([Self.purchase("50", 10) { $0.revocation = Revocation(date: .day(11)) }]) == .no)
        #expect(try Self.truth([Self.purchase("50", 10) { $0.ownership = .familyShared }]) == .no)
        #expect(
            try Self.truth([pass, Self.purchase("51", 39, of: "50")], within: .days(5)) == .no,
            "a restore is no purchase")
    }

    @Test("a product that may be family-shared has an unknown buyer in a receipt")
    func unknownBuyer() throws {
        let product = try ProductID("pass")
        let received = try Self.purchase("50", 10) { $0.ownership = nil }
        #expect(try Self.truth([received]) == .yes)
        #expect(try Self.truth([received], familySharable: [product]) == .unknown)
    }

    // MARK: Paid time

    /// - Parameter periods: the starts and ends in days, with what is special about each.
    private static func paid(
        _ periods: [(Double, Double, (inout Purchase) -> Void)], at now: Timestamp,
        _ environment: AppStoreEnvironment = .production
    ) throws -> Duration? {
        let facts = try periods.enumerated().map { place, period in
            try TestFacts.transaction("\(place + 1)", of: "1", period.0, period.1) { period.2(&$0) }
        }
        return SubscriberState(facts, environment, at: now).subscriptions.first?.paidFor
    }

    @Test("paid time adds up without trials, refunds and gaps, and begins again after 60 days without a subscription")
    func paidTime() throws {
        let plain: (inout Purchase) -> Void = { _ in }
        let trial: (inout Purchase) -> Void = {
            $0.offer = AppliedOffer(type: .introductory, discountType: .freeTrial)
            $0.price = 0
        }
        let refund: (inout Purchase) -> Void = { $0.revocation = Revocation(date: .day(45)) }
        #expect(try Self.paid([(0, 30, plain)], at: .day(10)) == .days(10))
        #expect(try Self.paid([(0, 30, plain), (30, 60, plain)], at: .day(100)) == .days(60))
        #expect(try Self.paid([(0, 30, trial), (30, 60, plain)], at: .day(100)) == .days(30))
        #expect(try Self.paid([(0, 30, plain), (30, 60, refund)], at: .day(100)) == .days(30))
        #expect(try Self.paid([(0, 30, plain), (90, 120, plain)], at: .day(120)) == .days(60), "60 days are no gap")
        #expect(try Self.paid([(0, 30, plain), (90.001, 120.001, plain)], at: .day(200)) == .days(30))
        #expect(try Self.paid([(0, 30, plain), (10, 40, plain)], at: .day(200)) == .days(40), "an upgrade on day 10")
        #expect(
            try Self.paid([(0, 0.01, plain), (0.02, 0.03, plain)], at: .day(1), .sandbox) == .days(1) / 100,
            "in the sandbox, ten minutes are a gap")
    }

    @Test("paidFor is at least what is known; at most needs the whole history of the group")
    func paidFor() throws {
        for (isWhole, test, expected) in [
            (true, PaidForTest(Bounds(atLeast: .days(40))), Truth.yes),
            (true, PaidForTest(Bounds(atLeast: .days(41))), .no),
            (true, PaidForTest(Bounds(atMost: .days(40))), .yes),
            (false, PaidForTest(Bounds(atLeast: .days(40))), .yes),
            (false, PaidForTest(Bounds(atLeast: .days(41))), .unknown),
            (false, PaidForTest(Bounds(atMost: .days(40))), .unknown),
            (false, PaidForTest(Bounds(atMost: .days(39))), .no),
        ] {
            let customer = try DecidingSamples.customer(DecidingSamples.facts(isWhole: isWhole))
            let condition = DecidingSamples.subscription(SubscriptionTest(test))
            #expect(condition.truth(in: try DecidingSamples.context(customer)) == expected, "\(isWhole) \(test)")
        }
    }
}
