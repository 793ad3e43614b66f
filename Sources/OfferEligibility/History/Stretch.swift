import OfferCore

/// The access that one period gives: its paid time, cut by a refund or extended by a grace period.
struct Stretch {
    let transactionID: TransactionID
    let start: Timestamp
    let end: Timestamp
    let endedBecause: Subscription.EndReason

    /// - Parameter messages: in ascending order.
    static func all(
        of subscription: SubscriptionPeriods, _ messages: [RenewalMessage], until end: Timestamp
    ) -> [Stretch] {
        let periods = subscription.periods.filter { $0.start <= end }
        return periods.indices.compactMap { place in
            let next = place + 1 < periods.count ? periods[place + 1] : nil
            return Stretch(periods[place], before: next, messages, until: end)
        }
    }

    /// - Returns: nil for a period without access.
    private init?(_ period: Period, before next: Period?, _ messages: [RenewalMessage], until now: Timestamp) {
        (transactionID, start) = (period.transactionID, period.start)
        let revocation = period.purchase.revocation.flatMap { $0.date <= now ? $0 : nil }
        let becauseOfIt = revocation.map { $0.type == .family ? Subscription.EndReason.other : .refunded }
        if let revocation, let becauseOfIt, revocation.date < period.end {
            (end, endedBecause) = (revocation.date, becauseOfIt)
            guard end > start else { return nil }
            return
        }
        // A refund after the end takes no access away.
        guard period.end > start else { return nil }
        let later = messages.filter { [start] message in
            message.at >= start && message.at <= period.end + Self.longestRetry
                && next.map { message.at < $0.start } ?? true
        }
        let grace = later.compactMap(\.graceEnd).filter { $0 <= period.end + Self.longestRetry }.max()
        let known = max(period.end, grace.map { min($0, revocation?.date ?? $0) } ?? period.end)
        if let next, next.purchase.reason == .renewal, next.start <= known + Self.usualDelay {
            end = max(known, next.start)
        } else {
            end = known
        }
        endedBecause = becauseOfIt ?? Self.reason(later, period.end)
    }

    /// The last message about an end counts; then a failed payment; then auto-renew that was off.
    private static func reason(_ messages: [RenewalMessage], _ end: Timestamp) -> Subscription.EndReason {
        // Messages are signed a little before the end.
        let atEnd = messages.filter { $0.at >= end - .days(2) }
        if let reason = atEnd.last(where: { $0.reason != nil })?.reason { return reason }
        if messages.contains(where: { $0.type == RenewalChange.billingErrorType || $0.graceEnd != nil }) {
            return .billing
        }
        return messages.last.map(\.autoRenews) ?? true ? .other : .cancelled
    }

    /// A renewal may start so much later than the end of the period without a failed payment. It does not end access.
    static let usualDelay = Duration.hours(1)
    /// The time for which the App Store tries to bill after the end of a period, with some reserve.
    private static let longestRetry = Duration.days(62)
}
