package import OfferCore

/// Computes the time to refresh a subscription from the App Store, if no notification arrives.
package enum NextCheck {
    /// Returns the earliest end of a period, a grace period or a billing retry that no newer data has confirmed.
    ///
    /// Newer data may say that the subscription is active although its period is over. It is then refreshed again after
    /// ``SubscriptionTiming/recheck``. Each later delay is as long as the period had been over.
    /// - Parameters:
    ///   - facts: all facts about one subscription.
    ///   - environment: determines the delays, because test environments have short periods.
    /// - Returns: nil if the current period has no end or was revoked, or if no further change is expected.
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
        // Transactions are ignored here, because they do not state whether the subscription continues.
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

    /// Returns true if a transaction was purchased later. For equal purchase dates, the higher identifier is later.
    private static func isLater(
        _ one: (purchase: Purchase, id: TransactionID), than other: (purchase: Purchase, id: TransactionID)
    ) -> Bool {
        guard one.purchase.purchaseDate == other.purchase.purchaseDate else {
            return one.purchase.purchaseDate > other.purchase.purchaseDate
        }
        return other.id.precedes(one.id)
    }
}
