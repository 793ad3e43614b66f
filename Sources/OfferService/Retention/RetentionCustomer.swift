import OfferCore
import OfferEligibility
import SubscriberStore
import SubscriberSync

/// The customer whose subscription the App Store names.
struct RetentionCustomer: Sendable {
    let found: DecisionCustomer
    /// The customer as signed. Without a known account, the signature names none.
    let signed: Customer

    /// - Parameters:
    ///   - stored: what the store knows of the subscription.
    ///   - isStale: true if this is older than the app accepts. It then says nothing about the present state.
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
