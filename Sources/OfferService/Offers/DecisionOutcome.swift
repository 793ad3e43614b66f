import OfferCore
import OfferEligibility

/// The result of one decision: the offers that the customer may have, signed or not, and those refused.
struct DecisionOutcome {
    struct Eligible {
        let terms: OfferTerms
        /// nil if it was not signed.
        let signed: DecidedOffer?
        /// The reasons it was not signed although requested.
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
