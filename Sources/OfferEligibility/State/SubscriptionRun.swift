import OfferCore

/// The consecutive periods that lead to one period of a timeline.
///
/// A run begins with a purchase, continues through renewals, recoveries, upgrades and downgrades, and ends with an
/// expiry.
struct SubscriptionRun {
    let start: Timestamp
    /// True if the first purchase of the run is known.
    let isWhole: Bool
    /// The paid renewals. Each bill of a commitment after the first is one. Refunded renewals and those replaced by an upgrade do not count.
    let renewals: Int

    init(to place: Int, in timeline: Timeline, at now: Timestamp) {
        let periods = timeline.periods
        var first = place
        while first > 0, timeline.continues(from: periods[first - 1], to: periods[first]) { first -= 1 }
        start = periods[first].start
        isWhole = periods[first].isFirstPurchase
        renewals = (first...place).count { place in
            periods[place].purchase.isPaidAndKept && timeline.replacement(of: place, at: now) == nil
                && periods[place].isRenewal(after: place > first ? periods[place - 1] : nil)
        }
    }
}

extension Period {
    /// True if this is the purchase with which a subscription began, or began again. Added seats are also purchased.
    fileprivate var isFirstPurchase: Bool {
        purchase.reason == .purchase && purchase.additionalReason == nil || transactionID == originalTransactionID
    }

    /// Receipts give no reason. A period that starts exactly when the previous one ends then counts as a renewal.
    fileprivate func isRenewal(after previous: Period?) -> Bool {
        if let reason = purchase.reason { return reason == .renewal }
        return previous?.end == start
    }
}

extension Purchase {
    /// Older data has no price. In that case, only free trials count as unpaid.
    var isPaid: Bool { price.map { $0 > 0 } ?? (offer?.discountType != .freeTrial) }

    fileprivate var isPaidAndKept: Bool { isPaid && revocation == nil && !isUpgraded }
}
