import OfferCore

/// An offer of a period, or of the next period.
struct UsedOffer: Hashable {
    let type: OfferType
    let identifier: String
    let productID: ProductID

    init?(_ period: Period) { self.init(period.purchase.offer, period.purchase.productID) }

    init?(_ renewal: Renewal) { self.init(renewal.offer, renewal.autoRenewProductID ?? renewal.productID) }

    private init?(_ offer: AppliedOffer?, _ productID: ProductID) {
        guard let offer, let identifier = offer.identifier else { return nil }
        type = offer.type
        self.identifier = identifier
        self.productID = productID
    }

    /// Returns true if this offer continues the previous period's offer. A free or prepaid offer has only one period,
    /// so a second one is a new redemption. So is a purchase instead of a renewal, or a return after a gap.
    /// - Parameter next: the line item that follows; nil if it is in the future.
    func continues(_ previous: Period?, until next: Period? = nil) -> Bool {
        guard let previous, let before = previous.offers.first(where: { $0.offer == self })?.lineItem else {
            return false
        }
        if let next, next.purchase.reason == .purchase || next.start > previous.end + Self.longestRetry { return false }
        switch before.purchase.offer?.discountType {
        case .freeTrial, .payUpFront: return false
        default: return true
        }
    }

    /// The time after which the App Store no longer retries billing, so that no renewal can follow.
    private static let longestRetry = Duration.days(62)
}

/// The offers that renewal infos of one period showed for the next period.
struct OfferOutlook {
    struct Shown {
        fileprivate(set) var first: Timestamp
        fileprivate(set) var last: Timestamp
        /// True if a fact that is kept permanently shows the offer.
        fileprivate(set) var isLasting: Bool
    }

    /// A renewal info that lacks a running offer.
    struct Interruption {
        let date: Timestamp
        /// False if renewal was off.
        let isCertain: Bool
    }

    private(set) var offers: [UsedOffer: Shown] = [:]
    /// The date of the first renewal info without an offer while auto-renew was on.
    private var none: Timestamp?
    /// The date of the first renewal info without an offer while auto-renew was off.
    private var noneWhileOff: Timestamp?

    /// Returns the outlooks keyed by the index of the period in which the renewal infos were signed; -1 means before
    /// the first known period.
    static func all(of subscription: SubscriptionPeriods, _ signals: SubscriptionSignals?) -> [Int: OfferOutlook] {
        guard let signals else { return [:] }
        var outlooks: [Int: OfferOutlook] = [:]
        func place(_ renewal: Signed<Renewal>) -> Int {
            subscription.periods.lastIndex { renewal.describes($0) } ?? -1
        }
        for announcement in signals.announcements {
            outlooks[place(announcement), default: OfferOutlook()].add(announcement)
        }
        if let renewal = signals.renewal, let offer = UsedOffer(renewal.value) {
            outlooks[place(renewal), default: OfferOutlook()].add(offer, at: renewal.signedDate, isLasting: false)
        }
        return outlooks
    }

    private mutating func add(_ announcement: Signed<Renewal>) {
        let date = announcement.signedDate
        if let offer = UsedOffer(announcement.value) {
            add(offer, at: date, isLasting: true)
        } else if announcement.value.autoRenewStatus == .on {
            none = min(none ?? date, date)
        } else {
            noneWhileOff = min(noneWhileOff ?? date, date)
        }
    }

    private mutating func add(_ offer: UsedOffer, at date: Timestamp, isLasting: Bool) {
        guard let known = offers[offer] else {
            offers[offer] = Shown(first: date, last: date, isLasting: isLasting)
            return
        }
        offers[offer] = Shown(
            first: min(known.first, date), last: max(known.last, date), isLasting: known.isLasting || isLasting)
    }

    /// Returns the first time at which a renewal info showed another offer of the same product, or none, instead of a
    /// running offer.
    /// - Parameter end: the time at which the offer was shown again; nil if this was in the next period.
    func interruption(of offer: UsedOffer, before end: Timestamp? = nil) -> Interruption? {
        let others = offers.filter { $0.key != offer && $0.key.productID == offer.productID }.values.map(\.first)
        let certain = (others + [none].compactMap(\.self)).min()
        func isInTime(_ date: Timestamp) -> Bool { end.map { date < $0 } ?? true }
        if let certain, isInTime(certain) { return Interruption(date: certain, isCertain: true) }
        guard let noneWhileOff, isInTime(noneWhileOff) else { return nil }
        return Interruption(date: noneWhileOff, isCertain: false)
    }

    /// Returns the first known date at which a renewal info showed an offer.
    /// - Parameter start: the time of an interruption, after which the offer must be shown; nil if there was none.
    func firstDate(of offer: UsedOffer, after start: Timestamp?) -> Timestamp? {
        guard let shown = offers[offer] else { return nil }
        guard let start else { return shown.first }
        return shown.first > start ? shown.first : shown.last > start ? shown.last : nil
    }
}
