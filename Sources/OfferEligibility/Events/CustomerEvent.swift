package import OfferCore

/// Something that happened to a customer, for the team's own receivers.
package struct CustomerEvent: Hashable, Sendable {
    /// The raw values are wire values.
    package enum Kind: String, CaseIterable, Hashable, Sendable {
        /// The customer may have the offer now. Only the offer's `total` is not checked.
        case becameEligible = "became_eligible"
        case noLongerEligible = "no_longer_eligible"
        case signed
        /// The app, or an answer to the App Store, showed the offer.
        case shown
        case redeemed
        /// A signature was not redeemed while it was valid.
        case expiredUnused = "expired_unused"
        /// The first renewal at the regular price after a redemption.
        case renewedAfterOffer = "renewed_after_offer"
        /// The customer's access to a subscription ended.
        case lost
        case paymentFailed = "payment_failed"
        case paymentRecovered = "payment_recovered"
        /// A person or a personal link gave the customer an offer.
        case grantOpened = "grant_opened"
        /// A redemption that no signature of this service explains.
        case alarm
    }

    package let kind: Kind
    package let at: Timestamp
    /// The product of the offer or of the subscription; nil if the App Store does not name it.
    package let productID: ProductID?
    /// The offer, as the App Store or the configuration names it; nil for an event that is about no offer.
    package let offerID: String?
    /// The rule that allowed the offer; nil if it is an inline rule, unknown, or not about an offer.
    package let rule: String?
    /// The place in the app where the offer first appeared; nil if it is unknown.
    package let placement: String?
    /// Why access ended; nil for other kinds, and if it is unknown.
    package let reason: String?
    /// A short text that tells the event from the customer's other events. It stays if more becomes known about the event.
    package let key: String

    /// - Parameter identity: what tells the event from others of its kind; nil for its offer and time.
    package init(
        _ kind: Kind, _ identity: String? = nil, at: Timestamp, productID: ProductID? = nil, offerID: String? = nil,
        rule: String? = nil, placement: String? = nil, reason: String? = nil
    ) {
        self.kind = kind
        self.at = at
        self.productID = productID
        self.offerID = offerID
        self.rule = rule
        self.placement = placement
        self.reason = reason
        let identity =
            identity
            ?? [productID?.text.description ?? "", offerID ?? "", String(at.milliseconds)].joined(separator: "\0")
        key = String(FNV1a.hash("\(kind.rawValue)\0\(identity)".utf8), radix: 16)
    }
}

/// A redemption of an offer, as the ledger counts it.
package struct CountedRedemption: Hashable, Sendable {
    /// The place among the subscription's redemptions of the offer. It stays if the redemption is recorded again.
    package let ordinal: Int64
    package let originalTransactionID: TransactionID
    package let productID: ProductID
    package let offerID: String
    /// The start of the first discounted period.
    package let at: Timestamp
    /// The time at which the customer redeemed the offer, as far as known.
    package let firstAt: Timestamp
    /// True if no signature explains the redemption, so that there is an alarm.
    package let isAlarm: Bool
    /// The rule of the signature that explains the redemption; nil if it has no name or is unknown.
    package let rule: String?

    package init(
        ordinal: Int64, originalTransactionID: TransactionID, productID: ProductID, offerID: String, at: Timestamp,
        firstAt: Timestamp, isAlarm: Bool, rule: String? = nil
    ) {
        self.ordinal = ordinal
        self.originalTransactionID = originalTransactionID
        self.productID = productID
        self.offerID = offerID
        self.at = at
        self.firstAt = firstAt
        self.isAlarm = isAlarm
        self.rule = rule
    }
}
