import OfferCore

/// The known data about the current period of a subscription.
struct CurrentPeriod {
    let period: Period
    /// The time at which another period in the group replaced it.
    let replacedAt: Timestamp?
    let ownership: Subscription.Ownership?
    /// nil if the newest renewal info describes an earlier period.
    let renewal: Signed<Renewal>?
    let status: Signed<SubscriptionStatus>?
    let expiryReason: Signed<ExpiryReason>?
    let timing: SubscriptionTiming

    init(
        _ place: Int, in timeline: Timeline, of subscription: SubscriptionPeriods, _ signals: SubscriptionSignals,
        _ timing: SubscriptionTiming, at now: Timestamp
    ) {
        let period = timeline.periods[place]
        self.period = period
        replacedAt = timeline.replacement(of: place, at: now)
        ownership = subscription.ownership
        renewal = signals.renewal.flatMap { $0.describes(period) ? $0 : nil }
        status = signals.status.flatMap { $0.signedDate >= period.start ? $0 : nil }
        expiryReason = signals.expiryReason.flatMap { $0.signedDate >= period.start ? $0 : nil }
        self.timing = timing
    }
}

extension Signed<Renewal> {
    /// Returns true if the renewal info was signed for this period or later.
    ///
    /// The App Store renews within the last 24 hours of a period. The renewal info then already contains the product
    /// and the end of the new period. The end alone is not enough: the renewal info of a longer period that was
    /// replaced contains a late end, too.
    func describes(_ period: Period) -> Bool {
        if signedDate >= period.start { return true }
        guard period.purchase.reason == .renewal, value.productID == period.purchase.productID,
            let renewalDate = value.renewalDate
        else { return false }
        return renewalDate > period.start && signedDate >= period.start - .hours(24)
    }
}
