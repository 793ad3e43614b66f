import OfferCore

extension SubscriptionPeriods {
    /// Returns true if every period is known from the first transaction to now, or to an end that the App Store has
    /// stated. A caller may have withheld purchases, such as a refunded one. Added seats leave no gap when they are
    /// withheld, so periods of a product with seats never show that all is known.
    /// - Parameter counts: returns true if App Store data from a date still counts. After an end that was stated long
    ///   ago, another period may have followed.
    func isKnownThroughout(
        _ signals: SubscriptionSignals, at now: Timestamp, _ counts: (Timestamp) -> Bool
    ) -> Bool {
        guard let first = periods.first, first.transactionID == originalTransactionID else { return false }
        guard !periods.contains(where: { $0.purchase.hasSeats || !$0.addedSeats.isEmpty }) else { return false }
        var last = first
        for period in periods.dropFirst() {
            guard period.follows(last) else { return false }
            last = period
        }
        if last.purchase.isUpgraded || signals.tellOfPeriod(after: last) { return false }
        return now < last.end && last.purchase.revocation == nil || signals.stateEnd(of: last, counts)
    }
}

extension Period {
    /// Returns true if no other period fits between an earlier one and this one.
    ///
    /// A renewal may start late because of billing retry, if the gap is too short for a hidden renewal. Hidden periods
    /// may precede a purchase, even one within a period: an upgrade may have been bought and refunded.
    fileprivate func follows(_ previous: Period) -> Bool {
        let accessEnd = min(previous.end, previous.purchase.revocation?.date ?? previous.end)
        let gap = start - accessEnd
        if gap <= .zero { return purchase.reason == .renewal || start >= previous.end }
        return purchase.reason == .renewal && gap * 4 <= min(end - start, previous.end - previous.start) * 3
    }
}

extension SubscriptionSignals {
    /// Returns true if the App Store has stated, after the end of a period, that nothing followed it.
    fileprivate func stateEnd(of period: Period, _ counts: (Timestamp) -> Bool) -> Bool {
        if period.purchase.revocation != nil, counts(period.signedDate) { return true }
        let end = period.end
        if let renewal, renewal.signedDate >= end, counts(renewal.signedDate), renewal.value.statesEnd { return true }
        if let status, status.signedDate >= end, counts(status.signedDate), status.value != .active { return true }
        return expiryReason.map { $0.signedDate >= end && counts($0.signedDate) } ?? false
    }

    /// Returns true if the renewal info belongs to a later period. It contains the end of its own period.
    fileprivate func tellOfPeriod(after period: Period) -> Bool {
        guard let date = renewal?.value.renewalDate else { return false }
        return date > period.end
    }
}

extension Renewal {
    /// True if no further period had begun when the renewal info was signed.
    fileprivate var statesEnd: Bool {
        expirationIntent != nil || isInBillingRetryPeriod == true || autoRenewStatus == .off
    }
}
