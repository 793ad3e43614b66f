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

    /// Returns true if this period continues the previous period's offer. A free or prepaid offer has only one period,
    /// so a second one is a new redemption. A purchase in place of a renewal, or a return after a gap, is a new
    /// redemption too.
    /// - Parameter next: the period that follows; nil if it is in the future.
    func continues(_ previous: Period?, until next: Period? = nil) -> Bool {
        guard let previous, UsedOffer(previous) == self else { return false }
        if let next, next.purchase.reason == .purchase || next.start > previous.end + Self.longestRetry { return false }
        switch previous.purchase.offer?.discountType {
        case .freeTrial, .payUpFront: return false
        default: return true
        }
    }

    /// The time after which the App Store has stopped collecting a payment, so no renewal follows.
    private static let longestRetry = Duration.days(62)
}

/// The offers that renewal infos of one period showed for the next period.
struct OfferOutlook {
    struct Shown {
        fileprivate(set) var first: Timestamp
        fileprivate(set) var last: Timestamp
        /// True if a kept fact shows it.
        fileprivate(set) var isLasting: Bool
    }

    /// A renewal info that lacks a running offer.
    struct Interruption {
        let date: Timestamp
        /// False if renewal was off.
        let isCertain: Bool
    }

    private(set) var offers: [UsedOffer: Shown] = [:]
    /// The first renewal info without an offer while renewal was on, and while it was off.
    private var none: Timestamp?
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

    /// Returns the first renewal info that showed no offer, or another offer of the same product, instead of a running
    /// one.
    /// - Parameter end: the time at which the offer was shown again; nil if that was in the next period.
    func interruption(of offer: UsedOffer, before end: Timestamp? = nil) -> Interruption? {
        let others = offers.filter { $0.key != offer && $0.key.productID == offer.productID }.values.map(\.first)
        let certain = (others + [none].compactMap(\.self)).min()
        func isInTime(_ date: Timestamp) -> Bool { end.map { date < $0 } ?? true }
        if let certain, isInTime(certain) { return Interruption(date: certain, isCertain: true) }
        guard let noneWhileOff, isInTime(noneWhileOff) else { return nil }
        return Interruption(date: noneWhileOff, isCertain: false)
    }

    /// Returns the first known date on which an offer was shown.
    /// - Parameter start: the end of the data of an earlier redemption; nil if there is none.
    func firstDate(of offer: UsedOffer, after start: Timestamp?) -> Timestamp? {
        guard let shown = offers[offer] else { return nil }
        guard let start else { return shown.first }
        return shown.first > start ? shown.first : shown.last > start ? shown.last : nil
    }
}
