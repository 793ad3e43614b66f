import OfferConfiguration
package import OfferCore
import OfferEligibility
import SubscriberStore

extension StoredCustomer {
    /// Returns the subscriptions whose latest data is older than an app accepts, the oldest first.
    /// - Parameter freshness: the maximum age; nil if any age is accepted.
    package func staleSubscriptions(under freshness: Duration?, at now: Timestamp) -> [TransactionID] {
        guard let freshness else { return [] }
        let bySubscription = Dictionary(grouping: facts, by: \.originalTransactionID)
        let latest = bySubscription.compactMap { original, facts -> (original: TransactionID, at: Timestamp)? in
            guard facts.contains(where: \.isAboutSubscription), let last = facts.map(\.signedDate).max() else {
                return nil
            }
            return (original, last)
        }
        return latest.filter { $0.at + freshness < now }
            .sorted { $0.at == $1.at ? $0.original.precedes($1.original) : $0.at < $1.at }.map(\.original)
    }
}

extension SubscriberFact {
    /// True if the fact is about an auto-renewable subscription.
    fileprivate var isAboutSubscription: Bool {
        switch value {
        case .transaction(let purchase), .receiptTransaction(let purchase), .fetchedTransaction(let purchase):
            purchase.isSubscriptionPeriod
        case .renewalInfo, .fetchedRenewalInfo, .status, .expiryReason, .firstAnnouncement, .lastAnnouncement,
            .renewalChange:
            true
        case .refundRequest, .wholeHistory: false
        }
    }
}
