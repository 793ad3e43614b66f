import OfferCore
import OfferEligibility

@testable import HistoryTestSupport

/// Customers and rules as short as a test wants them.
enum DecidingSamples {
    static let now = Timestamp.day(40)

    /// The facts about a customer whose only subscription began on day 0 with a purchase, as of day 40.
    /// - Parameters:
    ///   - isWhole: whether a receipt makes the history complete. Otherwise the first transaction is missing.
    ///   - change: of the current period's transaction.
    static func facts(
        renewal: SubscriberFact? = nil, status: SubscriberFact? = nil, end: Double = 60, isWhole: Bool = true,
        _ change: (inout Purchase) throws -> Void = { _ in }
    ) throws -> [SubscriberFact] {
        let first = try TestFacts.transaction(isWhole ? "1" : "2", of: "1", 0, end) {
            $0.appTransactionID = try TransactionID("A")
            try change(&$0)
        }
        let history = isWhole ? try receipt() : nil
        return [first] + [renewal, status, history].compactMap { $0 }
    }

    /// A purchase of the customer's Apple Account in a receipt of day 40, which makes the history complete and says nothing else.
    static func receipt() throws -> SubscriberFact {
        var purchase = Purchase(productID: try ProductID("coins"), purchaseDate: .day(-50))
        purchase.type = .consumable
        purchase.appTransactionID = try TransactionID("A")
        return try TestFacts.fact(.receiptTransaction(purchase), "900", of: "900", signed: .day(40))
    }

    static func customer(
        _ facts: [SubscriberFact], team: [String: TeamFactValue] = [:], at now: Timestamp = now,
        _ environment: AppStoreEnvironment = .production
    ) -> CustomerFacts {
        CustomerFacts(
            state: SubscriberState(facts, environment, at: now), environment: environment, team: team,
            originalAppVersion: AppVersion("2.5"), originalPurchase: .day(-100))
    }

    static func context(_ customer: CustomerFacts, at now: Timestamp = now) throws -> EvaluationContext {
        EvaluationContext(customer, offering: try ProductID("monthly"), products: try products(), at: now)
    }

    static func products() throws -> ProductTraits {
        ProductTraits(
            groups: [try ProductID("monthly"): "g", try ProductID("yearly"): "g", try ProductID("other"): "h"],
            ranks: [try ProductID("monthly"): 1, try ProductID("yearly"): 2],
            offers: [
                try ProductID("monthly"): [try OfferID(utf8: Array("half".utf8))],
                try ProductID("other"): [try OfferID(utf8: Array("elsewhere".utf8))],
            ])
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
