package import OfferCore

/// Computes the time to refresh a subscription from the App Store, if no notification arrives.
package enum NextCheck {
    /// Returns the first end of a period, a grace period or a billing retry without newer data about the subscription.
    ///
    /// If data from after the last of these times says that the subscription continues although its period is over, it
    /// is refreshed again. The first delay is an hour, and each later one is as long as the period has been over.
    /// - Parameters:
    ///   - facts: all facts about one subscription.
    ///   - environment: test environments have short periods.
    /// - Returns: nil if nothing ends, or if the end is known to have passed.
    package static func time(after facts: [SubscriberFact], in environment: AppStoreEnvironment) -> Timestamp? {
        let timing = SubscriptionTiming(environment)
        var current: (purchase: Purchase, id: TransactionID)?
        var renewal: Signed<Renewal>?
        var status: Signed<SubscriptionStatus>?
        for fact in facts {
            switch fact.value {
            case .transaction(let purchase), .fetchedTransaction(let purchase):
                guard purchase.isSubscriptionPeriod else { continue }
                if let known = current, !isLater((purchase, fact.key.id), than: known) { continue }
                current = (purchase, fact.key.id)
            case .renewalInfo(let value), .fetchedRenewalInfo(let value):
                if let renewal, renewal.signedDate > fact.signedDate { continue }
                renewal = Signed(value: value, signedDate: fact.signedDate)
            case .status(let value): status = Signed(value: value, signedDate: fact.signedDate)
            case .receiptTransaction, .refundRequest, .expiryReason, .wholeHistory, .firstAnnouncement,
                .lastAnnouncement:
                continue
            }
        }
        guard let purchase = current?.purchase, purchase.revocation == nil, let end = purchase.expiresDate else {
            return nil
        }
        // A transaction does not say whether its subscription continues.
        let last = max(renewal?.signedDate ?? .min, status?.signedDate ?? .min)
        var ends = [end]
        if let grace = renewal?.value.gracePeriodExpiresDate { ends.append(grace) }
        if status?.value == .billingRetry || renewal?.value.isInBillingRetryPeriod == true {
            ends.append(end + timing.billingRetry)
        }
        if let next = ends.filter({ $0 > last }).min() { return next }
        guard status?.value == .active, renewal?.value.autoRenewStatus != .off, last < end + timing.unsettled
        else { return nil }
        return max(last + timing.recheck, last + (last - end))
    }

    /// The current transaction is the last purchase. The identifier decides between two purchases of the same time.
    private static func isLater(
        _ one: (purchase: Purchase, id: TransactionID), than other: (purchase: Purchase, id: TransactionID)
    ) -> Bool {
        guard one.purchase.purchaseDate == other.purchase.purchaseDate else {
            return one.purchase.purchaseDate > other.purchase.purchaseDate
        }
        return other.id.precedes(one.id)
    }
}
