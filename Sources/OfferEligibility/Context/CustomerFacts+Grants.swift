import OfferCore

extension CustomerFacts {
    /// Returns the facts of a customer who also has a grant.
    package func granting(_ grant: OfferGrant) -> CustomerFacts { granting([grant]) }

    /// Returns the facts of a customer who also has other grants.
    package func granting(_ others: [OfferGrant]) -> CustomerFacts {
        CustomerFacts(
            state: state, environment: environment, team: team, originalAppVersion: originalAppVersion,
            originalPurchase: originalPurchase, places: places, placement: placement, link: link,
            events: events, grants: others + grants)
    }

    /// Returns the grant under which an offer is decided; nil if its rule applies. One that lifts limits comes first, then
    /// one by a person.
    /// - Parameter counts: returns true if the configuration lets a grant count.
    func grant(
        of productID: ProductID, _ offerID: OfferID, at now: Timestamp, _ counts: (OfferGrant) -> Bool
    ) -> OfferGrant? {
        let usable = grants.filter { grant in
            guard grant.isAbout(productID, offerID), grant.isInForce(at: now), counts(grant) else { return false }
            return !state.redemptions.contains { redemption in
                // The ledger does not count an uncertain redemption without a signature.
                redemption.isCertain && redemption.type == .promotional && redemption.productID == productID
                    && redemption.offerID == offerID.text.description && grant.isUsed(at: redemption.firstAt)
            }
        }
        // A person's grant may lift limits that hold under a link.
        return usable.first(where: \.liftsLimits) ?? usable.first { $0.campaign == nil } ?? usable.first
    }
}
