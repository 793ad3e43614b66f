import OfferCore
import OfferEligibility

/// The result of one decision: the offers that the customer may have, signed or not, and the refused offers.
struct DecisionOutcome {
    enum Offer {
        case signed(OfferTerms, DecidedOffer)
        /// The customer may have the offer, but it was not signed.
        /// - `gaps`: the missing prerequisites for a signature, if one was requested.
        case eligible(OfferTerms, gaps: OfferJWS.Gaps)
        case refused(OfferDecision)
        /// The customer may have the offer, but signing failed.
        case failed(OfferTerms, Problem)
    }

    let customer: EvaluatedCustomer
    /// The app's App Store Connect data; nil if unknown.
    let listing: AppListing?
    /// The content that the app shows if the customer gets no offer; nil for nothing.
    let alternative: Alternative.Content?
    /// The offers in the order of the decision.
    let offers: [Offer]
    /// The customer's eligibility for introductory offers, by group; empty if the app has no rule for them.
    var introductoryOffers: [GroupIntroductoryOffer] = []

    /// Returns the terms that the customer agrees to with an offer; nil if they are unknown.
    func terms(of offer: OfferTerms) -> ListedTerms? {
        listing?.terms(of: offer.productID, offer.offerID, in: customer.facts.state.storefront)
    }

    /// True if the customer may have an offer.
    var hasOffer: Bool {
        offers.contains { offer in
            switch offer {
            case .signed, .eligible, .failed: true
            case .refused: false
            }
        }
    }

    /// The first failure to sign; nil if there was none.
    var failure: Problem? {
        offers.lazy.compactMap { if case .failed(_, let problem) = $0 { problem } else { nil } }.first
    }

    var signed: [DecidedOffer] {
        offers.compactMap { if case .signed(_, let offer) = $0 { offer } else { nil } }
    }
}

/// A signed offer, and its reservation.
struct DecidedOffer {
    let offer: SignedOffer
    /// nil for an offer without a rule.
    let reserved: ReservedOffer?

    init(_ offer: SignedOffer, _ reserved: ReservedOffer?) {
        self.offer = offer
        self.reserved = reserved
    }
}
