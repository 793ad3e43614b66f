/// The use of an offer that has an identifier. Several periods of one offer are one redemption.
package struct Redemption: Hashable, Sendable {
    package let originalTransactionID: TransactionID
    package let type: OfferType
    package let offerID: String
    /// The same offer ID under two products is two offers.
    package let productID: ProductID
    /// The first discounted period; nil while it is to come.
    package let transactionID: TransactionID?
    /// That period's purchase date, or the date of the renewal info that shows the offer.
    package let at: Timestamp
}

extension Redemption {
    /// - Returns: the redemptions of a subscription in the order of their periods.
    static func all(of subscription: SubscriptionPeriods, _ renewal: Signed<Renewal>?) -> [Redemption] {
        var redemptions: [Redemption] = []
        var previous: Period?
        for period in subscription.periods {
            if let offer = UsedOffer(period), !offer.continues(previous, until: period) {
                redemptions.append(
                    Redemption(offer, subscription, transactionID: period.transactionID, at: period.start))
            }
            previous = period
        }
        guard let renewal, let offer = UsedOffer(renewal.value), !offer.isShown(by: subscription, renewal) else {
            return redemptions
        }
        return redemptions + [Redemption(offer, subscription, transactionID: nil, at: renewal.signedDate)]
    }

    private init(
        _ offer: UsedOffer, _ subscription: SubscriptionPeriods, transactionID: TransactionID?, at: Timestamp
    ) {
        self.init(
            originalTransactionID: subscription.originalTransactionID, type: offer.type, offerID: offer.identifier,
            productID: offer.productID, transactionID: transactionID, at: at)
    }
}

/// An offer of a period, or of the period to come.
private struct UsedOffer: Equatable {
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

    /// Whether the period before has the same offer. A free or prepaid offer has one period only, so there the customer
    /// redeemed it again, and so did one who bought instead of renewing, or came back after a gap.
    /// - Parameter next: the period that follows; nil while it is to come.
    func continues(_ previous: Period?, until next: Period? = nil) -> Bool {
        guard let previous, UsedOffer(previous) == self else { return false }
        if let next, next.purchase.reason == .purchase || next.start > previous.end + Self.longestRetry { return false }
        switch previous.purchase.offer?.discountType {
        case .freeTrial, .payUpFront: return false
        default: return true
        }
    }

    /// A renewal follows at the latest when the App Store gives up collecting the payment.
    private static let longestRetry = Duration.days(62)

    /// Whether a transaction already stands for the offer that a renewal info announces: the period in which the renewal
    /// info was signed, or the one after it.
    func isShown(by subscription: SubscriptionPeriods, _ renewal: Signed<Renewal>) -> Bool {
        let periods = subscription.periods
        let place = periods.lastIndex { renewal.describes($0) }
        let next = place.map { $0 + 1 } ?? 0
        if next < periods.count, UsedOffer(periods[next]) == self { return true }
        return continues(place.map { periods[$0] })
    }
}
