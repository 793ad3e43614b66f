import OfferCore

/// The periods of one Apple Account in one subscription group, in the order of their purchase dates.
///
/// Only one of them is current at a time. If the next period starts before the end of a period, an upgrade replaced it.
/// The App Store may not report this, because it does not send the upgraded transaction again.
struct Timeline {
    let periods: [Period]
    private let timing: SubscriptionTiming

    init(_ periods: [Period], _ timing: SubscriptionTiming) {
        self.periods = periods.sorted { one, other in
            one.start == other.start ? one.transactionID.precedes(other.transactionID) : one.start < other.start
        }
        self.timing = timing
    }

    /// Returns the index of a subscription's current period.
    ///
    /// This is the period that started last. A renewal may be known before it starts, and does not end the old period
    /// early. Once the old period has ended, the renewal is current.
    func current(of originalTransactionID: TransactionID, at now: Timestamp) -> Int? {
        let places = periods.indices.filter { periods[$0].originalTransactionID == originalTransactionID }
        let next = places.first { periods[$0].start > now }
        guard let started = places.last(where: { periods[$0].start <= now }) else { return next }
        return periods[started].end > now ? started : next ?? started
    }

    /// Returns the time at which another period replaced the one at `place` before its end; nil if none did.
    func replacement(of place: Int, at now: Timestamp) -> Timestamp? {
        guard place + 1 < periods.count else { return nil }
        let next = periods[place + 1].start
        return next <= now && next < periods[place].end ? next : nil
    }

    /// Returns the paid time up to the end of a period. It determines Apple's commission.
    ///
    /// Free trials, refunded periods and times without a subscription do not count. A gap of more than 60 days starts the
    /// count again.
    ///
    /// Source: Apple, "Auto-renewable Subscriptions" (days of paid service).
    func paidTime(to place: Int, at now: Timestamp) -> Duration {
        var total = Duration.zero
        var lastEnd: Timestamp?
        for index in periods.indices.prefix(through: place) where periods[index].start <= now {
            let period = periods[index]
            if let lastEnd, period.start - lastEnd > timing.paidTimeGap { total = .zero }
            guard period.purchase.revocation == nil else { continue }
            let end = min(period.end, replacement(of: index, at: now) ?? period.end, now)
            if period.purchase.isPaid, end > period.start { total += end - period.start }
            lastEnd = max(lastEnd ?? end, end)
        }
        return total
    }

    /// Returns true if the next period belongs to the same run. A renewal may follow a billing retry. A purchase must
    /// start before access ends.
    func continues(from one: Period, to next: Period) -> Bool {
        if next.purchase.reason == .renewal { return next.start <= one.end + timing.billingRetry }
        let accessEnd = min(one.end, one.purchase.revocation?.date ?? one.end)
        return next.start <= accessEnd
    }
}
