import OfferCore

extension CurrentPeriod {
    /// Returns the state of the subscription at `now`. The first matching check determines it.
    func standing(at now: Timestamp) -> Standing {
        if let revoked { return revoked }
        if let replacedAt { return .expired(at: replacedAt, because: .other) }
        if now < period.end { return period.purchase.isUpgraded ? .unsettled : .active }
        if let reason = endReason { return .expired(at: accessEnd(reason), because: reason) }
        if let grace = grace(at: now) { return grace }
        if isRetried {
            let isOver = now > period.end + timing.billingRetry
            let end = accessEnd(.billing)
            return isOver ? .expired(at: end, because: .billing) : .billingRetry(since: end)
        }
        return isQuietForLong(at: now) ? .expired(at: period.end, because: .other) : .unsettled
    }

    /// The revoked state, from the transaction or else from the status. A status older than the transaction is ignored,
    /// because the refund may have been reversed since.
    private var revoked: Standing? {
        let isShare = (ownership.map { $0 != .purchased } ?? false) || period.purchase.revocation?.type == .family
        let reason: Subscription.EndReason = isShare ? .other : .refunded
        if let revocation = period.purchase.revocation {
            return .revoked(at: min(period.end, revocation.date), because: reason)
        }
        guard let status, status.value == .revoked, status.signedDate >= period.signedDate else { return nil }
        return .revoked(at: min(period.end, status.signedDate), because: reason)
    }

    /// The reason why the subscription ended after its period; nil if no data says that it ended.
    ///
    /// During a billing retry, the intent states only why the retry began. If auto-renew is off, the subscription ends
    /// without an `EXPIRED` notification, and a grace period ends immediately.
    private var endReason: Subscription.EndReason? {
        let intent = renewal?.value.expirationIntent.map(Subscription.EndReason.init)
        let isOff = renewal?.value.autoRenewStatus == .off
        let isEnded = isOff || intent != nil && renewal?.value.isInBillingRetryPeriod != true
        guard isEnded || expiryReason != nil || newestStatus == .expired else { return nil }
        return intent ?? expiryReason.map { Subscription.EndReason($0.value) } ?? (isOff ? .cancelled : .other)
    }

    /// If the App Store gives no end date, the grace period lasts until the subscription counts as expired.
    private func grace(at now: Timestamp) -> Standing? {
        if let end = renewal?.value.gracePeriodExpiresDate {
            return now < end ? .billingGracePeriod(until: end) : nil
        }
        guard newestStatus == .billingGracePeriod, !isQuietForLong(at: now) else { return nil }
        return .billingGracePeriod(until: nil)
    }

    /// True if the subscription is in billing retry, which also follows a grace period.
    private var isRetried: Bool {
        if renewal?.value.isInBillingRetryPeriod == true || renewal?.value.gracePeriodExpiresDate != nil { return true }
        return newestStatus == .billingRetry || newestStatus == .billingGracePeriod
    }

    /// The status, unless a renewal info is newer.
    private var newestStatus: SubscriptionStatus? {
        guard let status else { return nil }
        if let renewal, renewal.signedDate > status.signedDate { return nil }
        return status.value
    }

    private func isQuietForLong(at now: Timestamp) -> Bool { now >= period.end + timing.unsettled }

    /// If billing failed, access lasts until the end of the grace period.
    private func accessEnd(_ reason: Subscription.EndReason) -> Timestamp {
        guard reason == .billing, let grace = renewal?.value.gracePeriodExpiresDate else { return period.end }
        return max(period.end, grace)
    }
}
