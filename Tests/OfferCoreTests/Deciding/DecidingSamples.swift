import OfferCore

@testable import HistoryTestSupport

/// Customers and rules as short as a test wants them.
enum DecidingSamples {
    static let now = Timestamp.day(40)

    /// The facts about a customer whose only subscription began on day 0 with a purchase, as of day 40.
    /// - Parameter change: of the current period's transaction.
    static func facts(
        renewal: SubscriberFact? = nil, status: SubscriberFact? = nil, end: Double = 60, isWhole: Bool = true,
        _ change: (inout Purchase) throws -> Void = { _ in }
    ) throws -> [SubscriberFact] {
        let first = try TestFacts.transaction(isWhole ? "1" : "2", of: "1", 0, end, change)
        return [first] + [renewal, status].compactMap { $0 }
    }

    static func customer(
        _ facts: [SubscriberFact], team: [String: TeamFactValue] = [:], at now: Timestamp = now,
        _ environment: AppStoreEnvironment = .production
    ) -> CustomerFacts {
        CustomerFacts(
            state: SubscriberState(facts, environment, at: now), environment: environment, team: team,
            originalAppVersion: AppVersion("2.5"), originalPurchase: .day(-100))
    }

    static func situation(_ customer: CustomerFacts, at now: Timestamp = now) throws -> Situation {
        Situation(customer, offering: try ProductID("monthly"), products: try products(), at: now)
    }

    static func products() throws -> ProductTraits {
        ProductTraits(
            groups: [try ProductID("monthly"): "g", try ProductID("yearly"): "g", try ProductID("other"): "h"],
            ranks: [try ProductID("monthly"): 1, try ProductID("yearly"): 2])
    }

    static func terms(_ condition: Condition) throws -> OfferTerms {
        OfferTerms(
            productID: try ProductID("monthly"), offerID: try OfferID(utf8: Array("half".utf8)),
            rule: Rule(name: "r", condition: condition))
    }

    static func subscription(_ tests: SubscriptionTest...) -> Condition {
        .subscription(SubscriptionCondition(tests: tests))
    }
}
