package import OfferCore

/// The known periods of one subscription up to a time, for reports. Decisions use ``Subscription``.
///
/// Of the App Store's messages, only those signed by that time count; of transactions, those whose date has come.
package struct SubscriptionHistory {
    package struct Period: Hashable, Sendable {
        package let start: Timestamp
        /// The end of the paid time. A refund does not change it.
        package let end: Timestamp
        /// The end of the access that the period gives: cut by a refund or the next period, or extended by a grace period.
        package let accessEnd: Timestamp
        package let endedBecause: Subscription.EndReason
        package let productID: ProductID
        package let kind: Subscription.PeriodKind
        package let storefront: String?
        package let billingPlan: BillingPlanType?
        /// True if the App Store renewed the subscription. False for a purchase by the customer.
        package let isRenewal: Bool
        /// True if the App Store could not collect the renewal at the end of the period.
        package let hasFailed: Bool
        /// The time of the payment after a failed renewal; nil if there is none.
        package let recoveredAt: Timestamp?
        /// True if the last message about the end of the period says that nothing follows.
        package let isOver: Bool
    }

    /// In ascending order, at least one.
    package let periods: [Period]
    /// True if the first period of the subscription is known.
    package let isKnownFromStart: Bool
    /// True if the customer has not agreed to a higher price of the next period.
    package let awaitsConsent: Bool
    /// The paid time that counts for Apple's commission, as in ``Subscription/paidFor``.
    package let paidFor: Duration

    /// - Parameter facts: the facts about the subscription.
    /// - Returns: nil if there is no period by that time, or if someone else bought it: for family shares and seats.
    package init?(of facts: SubscriberFacts, of app: Catalogue.App, until end: Timestamp) {
        let all = SubscriptionPeriods.all(
            of: KnownTransaction.all(in: facts), groups: app.groups, familySharable: app.familySharable)
        guard let subscription = all.first, !subscription.isAnothers else { return nil }
        let known = subscription.periods.filter { $0.start <= end }
        let original = subscription.originalTransactionID
        let messages = RenewalMessage.all(in: facts, until: end)[original] ?? []
        let stretches = Stretch.all(of: subscription, messages, until: end)
        periods = known.indices.map { place in
            Period(
                known[place], stretches.first { $0.start == known[place].start },
                before: place + 1 < known.count ? known[place + 1] : nil, messages)
        }
        guard let first = known.first, let last = known.last else { return nil }
        isKnownFromStart = first.transactionID == original
        paidFor = Timeline(known, SubscriptionTiming(.production)).paidTime(to: known.count - 1, at: end)
        let renewal = SubscriptionSignals.all(in: facts)[original]?.renewal
        awaitsConsent =
            renewal.map { renewal in
                renewal.signedDate <= end && renewal.describes(last) && renewal.value.autoRenewStatus != .off
                    && renewal.value.priceIncreaseStatus == .unanswered
            } ?? false
    }
}

extension SubscriptionHistory.Period {
    /// - Parameters:
    ///   - stretch: the access of the period; nil if it gives none.
    ///   - messages: those of the subscription, in ascending order.
    fileprivate init(_ period: Period, _ stretch: Stretch?, before next: Period?, _ messages: [RenewalMessage]) {
        let later = Self.messages(messages, after: period, before: next)
        // Later, the App Store no longer tries: renewals in between are unknown.
        let isTried = next.map { $0.purchase.reason == .renewal && $0.start <= period.end + Self.billingRetry } ?? false
        let isLate = isTried && next.map { $0.start > period.end + Stretch.usualDelay } ?? false
        let hasFailed = period.purchase.revocation == nil && (isLate || later.contains(where: \.isAboutFailure))
        var recoveredAt: Timestamp?
        if hasFailed, isTried, let next {
            recoveredAt = max(next.start, later.first { $0.type == RenewalChange.renewalType }?.at ?? next.start)
        }
        let accessEnd = max(period.start, stretch?.end ?? period.start)
        self.init(
            start: period.start, end: period.end, accessEnd: next.map { min($0.start, accessEnd) } ?? accessEnd,
            endedBecause: stretch?.endedBecause ?? .refunded, productID: period.purchase.productID,
            kind: Subscription.PeriodKind(period.purchase.offer), storefront: period.purchase.storefront,
            billingPlan: period.purchase.billingPlan, isRenewal: period.purchase.reason == .renewal,
            hasFailed: hasFailed, recoveredAt: recoveredAt,
            isOver: later.last?.isAboutEnd ?? false)
    }

    /// Returns the messages about the end of a period. They may be signed a little before it, and after the start of the
    /// next period, because a payment during the grace period does not move the billing date.
    private static func messages(
        _ messages: [RenewalMessage], after period: Period, before next: Period?
    ) -> [RenewalMessage] {
        messages.filter { message in
            message.at >= period.end - Self.lead
                && next.map { message.at < max($0.end, period.end) - Self.lead } ?? true
        }
    }

    private static let lead = Duration.days(2)
    private static let billingRetry = SubscriptionTiming(.production).billingRetry
}
