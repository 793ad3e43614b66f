import OfferCore

extension Redemption {
    /// Returns the redemptions of promotional offers in the facts about one subscription, in the order of the periods.
    package static func promotional(in facts: [SubscriberFact]) -> [Redemption] {
        let facts = SubscriberFacts(facts)
        let signals = SubscriptionSignals.all(in: facts)
        return SubscriptionPeriods.all(of: KnownTransaction.all(in: facts), groups: [:]).flatMap { subscription in
            Redemption.all(of: subscription, signals[subscription.originalTransactionID])
        }.filter { $0.type == .promotional }
    }
}

extension SubscriberFact {
    /// True if the fact shows the use of a promotional offer.
    package var showsPromotionalOffer: Bool {
        switch value {
        case .transaction(let purchase), .receiptTransaction(let purchase), .fetchedTransaction(let purchase):
            purchase.offer?.type == .promotional
        case .renewalInfo(let renewal), .fetchedRenewalInfo(let renewal), .firstAnnouncement(let renewal),
            .lastAnnouncement(let renewal):
            renewal.offer?.type == .promotional
        case .status, .refundRequest, .expiryReason, .wholeHistory, .renewalChange: false
        }
    }
}
