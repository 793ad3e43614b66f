import OfferCore
import SubscriberStore

extension StoredCustomer {
    /// The subscription that the App Store has spoken of last, if that is longer ago than an app accepts.
    /// - Parameter freshness: the greatest age; nil for any.
    func staleSubscription(under freshness: Duration?, at now: Timestamp) -> TransactionID? {
        guard let freshness, let last = facts.max(by: { $0.signedDate < $1.signedDate }),
            last.signedDate + freshness < now
        else { return nil }
        return last.originalTransactionID
    }
}
