/// A transaction and the renewal info of its subscription.
///
/// Renewal info names no app, so its signature would be valid for any app. It is accepted only with a transaction of
/// the same subscription, which names the app.
package struct SubscriptionRecord: Hashable, Sendable {
    package let transaction: SignedTransaction
    package let renewalInfo: RenewalInfo

    /// - Parameter transaction: any transaction of the subscription, with its app already checked.
    package init(_ transaction: SignedTransaction, _ renewalInfo: RenewalInfo) throws(CheckFailure) {
        guard renewalInfo.originalTransactionID == transaction.originalTransactionID else {
            throw .anotherSubscription
        }
        // Transaction IDs are unique only within an environment.
        if let one = transaction.environment, let other = renewalInfo.environment, one != other {
            throw .anotherSubscription
        }
        self.transaction = transaction
        self.renewalInfo = renewalInfo
    }
}
