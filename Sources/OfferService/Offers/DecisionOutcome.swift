import OfferCore
import OfferEligibility

/// What one decision leads to: the offers that the customer may have, signed or not, and those refused.
struct DecisionOutcome {
    struct Eligible {
        let terms: OfferTerms
        /// nil if it was not to be signed.
        let signed: DecidedOffer?
        /// Why it was not signed although it was to be.
        let gaps: OfferJWS.Gaps
    }

    let customer: DecisionCustomer
    /// The best first.
    let eligible: [Eligible]
    let refused: [OfferDecision]
}

/// A signed offer, and what the ledger reserved for it.
struct DecidedOffer {
    let offer: SignedOffer
    /// nil for an offer without a rule.
    let reserved: ReservedOffer?

    init(_ offer: SignedOffer, _ reserved: ReservedOffer?) {
        self.offer = offer
        self.reserved = reserved
    }
}
