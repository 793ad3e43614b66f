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
    /// False if the offer was running, and was missing only while the customer had turned renewal off. The customer may only
    /// have turned renewal on again, so without a signature it is not a redemption.
    package let isCertain: Bool
    /// True if the facts that show it are kept. For an unsigned source, the next renewal info replaces the newest one.
    package let isLasting: Bool
}

extension Redemption {
    /// - Returns: the redemptions of a subscription in the order of their periods.
    static func all(of subscription: SubscriptionPeriods, _ signals: SubscriptionSignals?) -> [Redemption] {
        let outlooks = OfferOutlook.all(of: subscription, signals)
        var redemptions: [Redemption] = []
        for place in -1..<subscription.periods.count {
            redemptions += [ofPeriod(place, subscription, outlooks)].compactMap(\.self)
            redemptions += announced(in: place, subscription, outlooks)
        }
        return redemptions
    }

    /// Returns the redemption that begins with a period.
    private static func ofPeriod(
        _ place: Int, _ subscription: SubscriptionPeriods, _ outlooks: [Int: OfferOutlook]
    ) -> Redemption? {
        guard place >= 0 else { return nil }
        let period = subscription.periods[place]
        guard let offer = UsedOffer(period), subscription.isPurchasers(place) else { return nil }
        let (previous, outlook) = (place > 0 ? subscription.periods[place - 1] : nil, outlooks[place - 1])
        let continues = offer.continues(previous, until: period)
        let interruption = continues ? outlook?.interruption(of: offer) : nil
        guard !continues || interruption != nil else { return nil }
        return Redemption(
            offer, subscription, transactionID: period.transactionID, at: period.start,
            announcedAt: outlook?.firstDate(of: offer, after: interruption?.date),
            isCertain: interruption?.isCertain ?? true, isLasting: true)
    }

    /// Returns the redemptions that renewal infos of one period announced and that no period shows. They are in the
    /// future, or another offer has replaced them.
    private static func announced(
        in place: Int, _ subscription: SubscriptionPeriods, _ outlooks: [Int: OfferOutlook]
    ) -> [Redemption] {
        guard let outlook = outlooks[place], subscription.isPurchasers(max(place, 0)) else { return [] }
        let current = place >= 0 ? subscription.periods[place] : nil
        let next = place + 1 < subscription.periods.count ? UsedOffer(subscription.periods[place + 1]) : nil
        return outlook.offers.compactMap { offer, shown in
            guard offer != next else { return nil }
            var interruption: OfferOutlook.Interruption?
            if offer.continues(current) {
                // The rest of a running offer is not a redemption, unless the offer was missing in between.
                interruption = outlook.interruption(of: offer, before: shown.last)
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

extension SubscriptionPeriods {
    /// Returns true if the purchaser's own transaction describes a period. A family share, a seat, or a type that Apple
    /// adds later carries the purchaser's offer and redeems nothing.
    ///
    /// Receipts and old data state no ownership. In that case, the rest of the subscription decides; if it states none,
    /// the purchaser is assumed.
    fileprivate func isPurchasers(_ place: Int) -> Bool {
        let named = periods[place].purchase.ownership ?? periods.lazy.compactMap(\.purchase.ownership).first
        return named.map { $0 == .purchased } ?? true
    }
}
