import OfferCore
import SubscriberStore

/// The customer whom the App Store names by a subscription.
struct RetentionCustomer: Sendable {
    let found: DecisionCustomer
    /// As it is signed. Without a known account, the purchase gets none.
    let signed: Customer

    /// - Parameter stored: what the store knows of the subscription.
    init(_ question: RetentionQuestion, _ stored: StoredCustomer, at now: Timestamp) throws(Problem) {
        let owned = OwnedCustomer(
            stored, known: .originalTransactionID(question.originalTransactionID),
            by: question.configured.ownership)
        let token = owned?.appAccountToken.map(Customer.appAccountToken)
        let subject = DecisionSubject(
            question.app, ofSubscription: question.originalTransactionID,
            account: token ?? owned?.applicationUsername.map(Customer.applicationUsername))
        found = try DecisionCustomer(
            subject, in: question.app, question.configured, stored: stored, newFacts: [], .notNeeded, at: now)
        if let token {
            signed = token
        } else {
            do { signed = try Customer(applicationUsername: []) } catch { throw .invalidField(error) }
        }
    }
}
