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
        // Receipts are not refreshed.
        let known = SubscriberFacts(facts.filter { $0.key.kind != .receiptTransaction })
        let subscription = SubscriptionPeriods.all(of: KnownTransaction.all(in: known), groups: [:]).first
        guard let purchase = subscription?.periods.last?.purchase, purchase.revocation == nil,
            let end = purchase.expiresDate
        else { return nil }
        let signals = SubscriptionSignals.all(in: known).values.first
        let (renewal, status) = (signals?.renewal, signals?.status)
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
}
