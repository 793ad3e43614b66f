package import OfferCore
package import OfferEligibility

/// An event as an app reports it, before its offer and its customer are known.
package struct OfferEventReport: Hashable, Sendable {
    package enum Offer: Hashable, Sendable {
        /// The offer and the customer of a signature.
        case signed(Nonce)
        case named(CustomerIdentifier, ProductID, OfferID)
    }

    package let kind: OfferEvent.Kind
    package let offer: Offer
    package let at: Timestamp
    package let error: String?

    package init(kind: OfferEvent.Kind, offer: Offer, at: Timestamp, error: String? = nil) {
        self.kind = kind
        self.offer = offer
        self.at = at
        self.error = error
    }
}
