import OfferCore
import OfferEligibility
import SubscriberStore

/// The exposures of a customer that an answer adds. Known ones are left out, so their number does not grow with the
/// requests.
struct NewExposures {
    let customer: EvaluatedCustomer
    let channel: OfferSource.Channel
    /// The digest of the rules.
    let rulesDigest: [UInt8]
    let at: Timestamp

    /// Returns one exposure for each sample of the rule; one in all if the rule has no sample.
    /// - Parameters:
    ///   - offerID: nil for an introductory offer.
    ///   - places: the customer's places in the samples of the rule.
    ///   - grant: the channel of the grant that replaces the rule; nil if none does.
    func to(
        _ productID: ProductID, _ offerID: OfferID?, by rule: Rule, _ arm: Exposure.Arm, _ places: [SamplePlace],
        grant: OfferSource.Channel? = nil
    ) -> [Exposure] {
        guard let identifier = customer.exposedAs else { return [] }
        let places = places.isEmpty ? [nil] : places.map(Optional.some)
        return places.map { place in
            Exposure(
                subject: .customer(identifier), productID: productID, offerID: offerID, arm: arm, place: place,
                source: source(of: rule, grant: grant), placement: customer.facts.placement,
                rulesDigest: rulesDigest, at: at)
        }.filter { new in !customer.exposures.contains(where: new.isAbout) }
    }

    func source(of rule: Rule, grant: OfferSource.Channel?, _ retentionCase: Int64? = nil) -> OfferSource {
        OfferSource(rule: rule.name, channel: grant ?? channel, retentionCase: retentionCase)
    }
}

/// The exposures of an answer without a reservation.
struct ExposuresToRecord: Sendable {
    let app: AppScope
    let exposures: [Exposure]
    let at: Timestamp
}

/// An offer from which the customer is held out.
struct HeldOutPlan {
    let terms: OfferTerms
    let places: [SamplePlace]
    /// The number of planned offers that are better.
    let place: Int
}

extension [HeldOutPlan] {
    /// - Parameters:
    ///   - decisions: the decisions, the best offer first.
    ///   - isPlanned: returns true for an eligible offer that is to be signed.
    ///   - isSignable: returns true for a held-out offer that could be signed now. The arms are comparable only if both
    ///     have the same conditions.
    init(
        _ decisions: [OfferDecision], isPlanned: (OfferDecision) -> Bool = \.isEligible,
        isSignable: (OfferDecision) -> Bool
    ) {
        self = []
        var place = 0
        for decision in decisions {
            if isPlanned(decision) { place += 1 }
            if decision.isHeldOut, isSignable(decision) {
                append(HeldOutPlan(terms: decision.offer, places: decision.places, place: place))
            }
        }
    }
}
