import OfferCore
import OfferEligibility
import SubscriberStore
import SubscriberSync

/// The customer whom the App Store names by a subscription.
struct RetentionCustomer: Sendable {
    let found: DecisionCustomer
    /// As it is signed. Without a known account, the purchase gets none.
    let signed: Customer

    /// - Parameters:
    ///   - stored: what the store knows of the subscription.
    ///   - isStale: whether that is older than the app accepts. Then nothing in it counts as the present state.
    init(
        _ question: RetentionQuestion, _ stored: StoredCustomer, isStale: Bool, at now: Timestamp
    ) throws(Problem) {
        let subject = DecisionSubject(question.app, ofSubscription: question.originalTransactionID)
        found = try DecisionCustomer(
            subject, in: question.app, question.configured, stored: stored, newFacts: [],
            DecisionLookUp(customer: isStale ? .unanswered : .notNeeded), at: now)
        if let token = found.accounts.compactMap(\.token).min(by: { $0.utf8.lexicographicallyPrecedes($1.utf8) }) {
            signed = .appAccountToken(token)
        } else {
            do { signed = try Customer(applicationUsername: []) } catch { throw .invalidField(error) }
        }
    }
}
