package import OfferCore

/// The history of a customer in one subscription group up to a time, for reports. Decisions use ``SubscriberState``.
///
/// Family shares and seats do not count. Of the App Store's messages, only those signed by that time count; of
/// transactions, those whose date has come.
package struct AccessHistory {
    /// A span of time with access, including grace periods.
    package struct Span: Hashable, Sendable {
        package let start: Timestamp
        /// The first time without access; in the future if the paid time has not ended.
        package let end: Timestamp
        package let endedBecause: Subscription.EndReason
    }

    /// A payment or, with a negative amount, a refund.
    package struct Payment: Hashable, Sendable {
        package let at: Timestamp
        package let currency: String
        /// In thousandths of the currency.
        package let amount: Int64
    }

    /// Ascending and without overlaps.
    package let spans: [Span]
    /// The starts of the periods that followed another period of the same span, ascending.
    package let renewals: [Timestamp]
    /// In ascending order.
    package let payments: [Payment]
    /// The storefront of each purchase, in ascending order of their dates.
    private let storefronts: [(at: Timestamp, code: String)]
    private let periods: [Period]
    /// The end of the access that each period gives; none for a period without access.
    private let accessEnds: [TransactionID: Timestamp]
    private let redemptions: [Redemption]
    private let end: Timestamp

    /// - Parameter productID: a product of the subscription group. If its group is unknown, all subscriptions count.
    package init(
        of facts: SubscriberFacts, inGroupOf productID: ProductID, of app: Catalogue.App, until end: Timestamp
    ) {
        let transactions = KnownTransaction.all(in: facts)
        let named = transactions.lazy.filter { $0.purchase.productID == productID }.compactMap(
            \.purchase.subscriptionGroupID)
        let group = app.groups[productID] ?? named.first
        let subscriptions = SubscriptionPeriods.all(
            of: transactions, groups: app.groups, familySharable: app.familySharable
        ).filter { !$0.isAnothers && (group == nil || $0.groupID == nil || $0.groupID == group) }
        let signals = SubscriptionSignals.all(in: facts)
        let messages = RenewalMessage.all(in: facts, until: end)
        let stretches = Timelines.lines(of: subscriptions).map { line in
            line.flatMap { subscription in
                Stretch.all(of: subscription, messages[subscription.originalTransactionID] ?? [], until: end)
            }.sorted { ($0.start, $0.end) < ($1.start, $1.end) }
        }
        accessEnds = Dictionary(stretches.joined().map { ($0.transactionID, $0.end) }, uniquingKeysWith: max)
        let lines = stretches.map(Self.joined)
        spans = Self.united(lines.flatMap(\.spans))
        renewals = lines.flatMap(\.renewals).sorted()
        let own = Set(subscriptions.map(\.originalTransactionID))
        let purchases = transactions.filter {
            own.contains($0.originalTransactionID) && $0.purchase.purchaseDate <= end && !$0.purchase.isAnothers
        }
        payments = purchases.flatMap { Payment.all(of: $0.purchase, until: end) }.sorted {
            ($0.at, $0.currency, $0.amount) < ($1.at, $1.currency, $1.amount)
        }
        storefronts = purchases.compactMap { transaction in
            transaction.purchase.storefront.map { (transaction.purchase.purchaseDate, $0) }
        }
        periods = subscriptions.flatMap(\.periods).filter { $0.start <= end }.sorted { $0.start < $1.start }
        redemptions = subscriptions.flatMap { Redemption.all(of: $0, signals[$0.originalTransactionID]) }
        self.end = end
    }

    /// - Parameter stretches: those of one timeline, in ascending order.
    private static func joined(_ stretches: [Stretch]) -> (spans: [Span], renewals: [Timestamp]) {
        var (spans, renewals): ([Span], [Timestamp]) = ([], [])
        for stretch in stretches {
            let span = Span(start: stretch.start, end: stretch.end, endedBecause: stretch.endedBecause)
            guard let last = spans.last, stretch.start <= last.end else {
                spans.append(span)
                continue
            }
            if stretch.start > last.start { renewals.append(stretch.start) }
            // An upgrade or a change of the plan replaces the rest of the earlier period.
            spans[spans.count - 1] = Span(start: last.start, end: span.end, endedBecause: span.endedBecause)
        }
        return (spans, renewals)
    }

    /// Returns the spans of time with access by any timeline. Subscriptions of several Apple Accounts do not replace each
    /// other.
    private static func united(_ spans: [Span]) -> [Span] {
        // Of equal ends, the order of the reasons is fixed.
        func key(_ span: Span) -> (Timestamp, Timestamp, String) { (span.start, span.end, span.endedBecause.rawValue) }
        return spans.sorted { key($0) < key($1) }.reduce(into: []) { united, span in
            guard let last = united.last, span.start <= last.end else {
                united.append(span)
                return
            }
            guard span.end > last.end else { return }
            united[united.count - 1] = Span(start: last.start, end: span.end, endedBecause: span.endedBecause)
        }
    }

    /// Returns the storefront of the last purchase before a time.
    package func storefront(at time: Timestamp) -> String? { storefronts.last { $0.at <= time }?.code }
}

extension AccessHistory {
    /// The redemption of an offer.
    package struct Redeemed: Hashable, Sendable {
        /// The first known date: of the period, or of the message that announced it.
        package let at: Timestamp
        package let afterwards: Afterwards
    }

    /// The state of the subscription after the last discounted period.
    package enum Afterwards: Hashable, Sendable {
        /// Its end has not come, or billing is still tried.
        case notYet
        /// The next period followed without a gap, other than that of a failed payment, and was paid at no discount.
        case kept
        /// Also if the customer came back later, or if the next period was refunded.
        case lost
        /// The discounted period or the price of the next one is unknown.
        case unknown
    }

    /// Returns the first redemption of an offer since a time; nil if there is none.
    /// - Parameter wasSigned: true if the customer could use a signature for the offer at a time. Only then does a
    ///   redemption count that is not certain, as for the ledger.
    package func redemption(
        of productID: ProductID, _ offerID: OfferID, since start: Timestamp, wasSigned: (Timestamp) -> Bool
    ) -> Redeemed? {
        let text = offerID.text.description
        let own = redemptions.filter { redemption in
            redemption.productID == productID && redemption.offerID == text && redemption.type == .promotional
                && (redemption.isCertain || wasSigned(redemption.firstAt))
        }
        let dated = own.filter { start <= $0.firstAt && $0.firstAt <= end }
        guard let first = dated.min(by: { $0.firstAt < $1.firstAt }) else { return nil }
        return Redeemed(at: first.firstAt, afterwards: afterwards(first))
    }

    private func afterwards(_ redemption: Redemption) -> Afterwards {
        let own = periods.filter { $0.originalTransactionID == redemption.originalTransactionID }
        guard var last = own.firstIndex(where: { $0.transactionID == redemption.transactionID }) else {
            // The announced period is in the future, unless the announcing period is over.
            return own.last.map { isOpen($0) && $0.start <= redemption.firstAt } ?? false ? .notYet : .unknown
        }
        while last + 1 < own.count, isDiscounted(own[last + 1], by: redemption), follows(own[last + 1], own[last]) {
            last += 1
        }
        guard last + 1 < own.count else { return isOpen(own[last]) ? .notYet : .lost }
        let next = own[last + 1]
        guard follows(next, own[last]), !isRevoked(next), next.purchase.offer == nil else { return .lost }
        return next.purchase.price.map { $0 != 0 ? .kept : .lost } ?? .unknown
    }

    /// True if a period continues another. A renewal may be paid as long as the App Store tries to bill it; a purchase
    /// after the end of access is a return. Old data does not distinguish the two, so there both may be late.
    private func follows(_ next: Period, _ period: Period) -> Bool {
        let accessEnd = accessEnds[period.transactionID] ?? period.start
        if next.purchase.reason == .purchase { return next.start <= accessEnd }
        return next.start <= max(accessEnd, period.end + Self.billingRetry)
    }

    private func isRevoked(_ period: Period) -> Bool { period.purchase.revocation.map { $0.date <= end } ?? false }

    /// True if the period gives access at the end of the history, or billing is still tried.
    private func isOpen(_ period: Period) -> Bool {
        guard !isRevoked(period) else { return false }
        if spans.contains(where: { period.start < $0.end && $0.end > end }) { return true }
        let last = spans.last
        return last?.endedBecause == .billing && end < period.end + Self.billingRetry
    }

    private static let billingRetry = SubscriptionTiming(.production).billingRetry

    private func isDiscounted(_ period: Period, by redemption: Redemption) -> Bool {
        period.purchase.offer?.identifier == redemption.offerID
    }
}

extension Purchase {
    /// The number of times that the price was paid. With seats, the price is that of one. A refund of some seats has no
    /// date of its own.
    fileprivate var paidSeats: Int64 {
        guard let seats else { return 1 }
        return max(0, (quantity ?? 1).subtractingReportingOverflow(max(0, seats.revokedQuantity ?? 0)).partialValue)
    }
}

extension AccessHistory.Payment {
    fileprivate static func all(of purchase: Purchase, until end: Timestamp) -> [Self] {
        guard let price = purchase.price, price != 0, let currency = purchase.currency else { return [] }
        let (total, overflows) = price.multipliedReportingOverflow(by: purchase.paidSeats)
        guard !overflows, total != 0, abs(total) < maximum else { return [] }
        let paid = Self(at: purchase.purchaseDate, currency: currency, amount: total)
        guard let revocation = purchase.revocation, revocation.type != .family, revocation.date <= end else {
            return [paid]
        }
        let share = min(100_000, max(0, revocation.percentage ?? 100_000))
        return [
            paid,
            Self(
                at: revocation.date, currency: currency,
                amount: -(total / 100_000 * share + total % 100_000 * share / 100_000)),
        ]
    }

    /// More is an error in the data. Sums of a million such amounts still fit.
    private static let maximum: Int64 = 1_000_000_000_000
}
