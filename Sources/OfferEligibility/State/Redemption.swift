package import OfferCore

/// The use of an offer that has an identifier. Several periods of one offer are one redemption.
package struct Redemption: Hashable, Sendable {
    package let originalTransactionID: TransactionID
    package let type: OfferType
    package let offerID: String
    /// The same offer ID under two products is two offers.
    package let productID: ProductID
    /// The first discounted period; nil if it is in the future.
    package let transactionID: TransactionID?
    /// That period's purchase date, or the date of the first known renewal info that shows the offer.
    package let at: Timestamp
    /// The date of the first renewal info that showed the offer; nil if none is known.
    package let announcedAt: Timestamp?
    /// False if a running offer disappeared only while auto-renew was off. The customer may only have turned auto-renew
    /// on again. In that case, this is a redemption only if there is a signature for it.
    package let isCertain: Bool
    /// False if only a renewal info shows the redemption, and the next renewal info replaces that one.
    package let isLasting: Bool

    /// The time at which the customer redeemed the offer, as far as known.
    package var firstAt: Timestamp { min(at, announcedAt ?? at) }
}

extension Redemption {
    /// - Returns: the redemptions of a subscription in the order of their periods.
    static func all(of subscription: SubscriptionPeriods, _ signals: SubscriptionSignals?) -> [Redemption] {
        let outlooks = OfferOutlook.all(of: subscription, signals)
        var redemptions: [Redemption] = []
        for place in -1..<subscription.periods.count {
            redemptions += ofPeriod(place, subscription, outlooks)
            redemptions += announced(in: place, subscription, outlooks)
        }
        return redemptions
    }

    /// Returns the redemptions that begin with a period. Seats that are added to it may use offers of their own.
    private static func ofPeriod(
        _ place: Int, _ subscription: SubscriptionPeriods, _ outlooks: [Int: OfferOutlook]
    ) -> [Redemption] {
        guard place >= 0, subscription.isPurchasers(place) else { return [] }
        let (previous, outlook) = (place > 0 ? subscription.periods[place - 1] : nil, outlooks[place - 1])
        return subscription.periods[place].offers.compactMap { offer, lineItem in
            let continues = offer.continues(previous, until: lineItem)
            let interruption = continues ? outlook?.interruption(of: offer, during: previous) : nil
            guard !continues || interruption != nil else { return nil }
            return Redemption(
                offer, subscription, transactionID: lineItem.transactionID, at: lineItem.start,
                announcedAt: outlook?.firstDate(of: offer, after: interruption?.date),
                isCertain: interruption?.isCertain ?? !lineItem.mayBeAddedSeats(to: previous), isLasting: true)
        }
    }

    /// Returns the redemptions that one period's renewal infos announced but the next period does not show. They are in
    /// the future, or another offer has replaced them.
    private static func announced(
        in place: Int, _ subscription: SubscriptionPeriods, _ outlooks: [Int: OfferOutlook]
    ) -> [Redemption] {
        guard let outlook = outlooks[place], subscription.isPurchasers(max(place, 0)) else { return [] }
        let current = place >= 0 ? subscription.periods[place] : nil
        let next = place + 1 < subscription.periods.count ? subscription.periods[place + 1].offers.map(\.offer) : []
        return outlook.offers.compactMap { offer, shown in
            guard !next.contains(offer) else { return nil }
            var interruption: OfferOutlook.Interruption?
            if offer.continues(current) {
                // The rest of a running offer is not a redemption, unless the offer was missing in between.
                interruption = outlook.interruption(of: offer, during: current, before: shown.last)
                guard interruption != nil else { return nil }
            }
            guard let date = outlook.firstDate(of: offer, after: interruption?.date) else { return nil }
            return Redemption(
                offer, subscription, transactionID: nil, at: date, announcedAt: date,
                isCertain: interruption?.isCertain ?? true, isLasting: shown.isLasting)
        }.sorted { ($0.at, $0.offerID) < ($1.at, $1.offerID) }
    }

    private init(
        _ offer: UsedOffer, _ subscription: SubscriptionPeriods, transactionID: TransactionID?, at: Timestamp,
        announcedAt: Timestamp?, isCertain: Bool, isLasting: Bool
    ) {
        self.init(
            originalTransactionID: subscription.originalTransactionID, type: offer.type, offerID: offer.identifier,
            productID: offer.productID, transactionID: transactionID, at: at, announcedAt: announcedAt,
            isCertain: isCertain, isLasting: isLasting)
    }
}

extension Period {
    /// Returns true if this may be seats that a receipt lists without their reason, or an addition for a reason that this
    /// version does not know.
    fileprivate func mayBeAddedSeats(to previous: Period?) -> Bool {
        let isOther = purchase.additionalReason.map { $0 != .seatAddition } ?? false
        guard let previous, purchase.reason == nil || isOther else { return false }
        return start < previous.end && purchase.productID == previous.purchase.productID
    }
}

extension OfferOutlook {
    /// Returns the interruption of a running offer; nil if seats with different offers make it impossible to tell. A
    /// renewal info shows only one offer.
    fileprivate func interruption(
        of offer: UsedOffer, during period: Period?, before end: Timestamp? = nil
    ) -> Interruption? {
        let isOnlyOffer = period.map { ([$0] + $0.addedSeats).allSatisfy { UsedOffer($0) == offer } } ?? true
        return isOnlyOffer ? interruption(of: offer, before: end) : nil
    }
}

extension SubscriptionPeriods {
    /// Returns true if the customer purchased a period. A family share, a seat or an unknown type contains the
    /// purchaser's offer, but does not redeem it.
    ///
    /// Receipts and old data contain no ownership. In that case, the other periods determine it. If they contain none
    /// either, the customer counts as the purchaser.
    fileprivate func isPurchasers(_ place: Int) -> Bool {
        let named = periods[place].purchase.ownership ?? periods.lazy.compactMap(\.purchase.ownership).first
        return named.map { $0 == .purchased } ?? true
    }
}
