import OfferCore

extension CustomerFacts {
    /// Returns the facts of a customer who also has a grant.
    package func granting(_ grant: OfferGrant) -> CustomerFacts {
        CustomerFacts(
            state: state, environment: environment, team: team, originalAppVersion: originalAppVersion,
            originalPurchase: originalPurchase, places: places, placement: placement, events: events,
            grants: [grant] + grants)
    }

    /// Returns the grant under which an offer is decided; nil if its rule applies.
    func grant(of productID: ProductID, _ offerID: OfferID, at now: Timestamp) -> OfferGrant? {
        grants.first { grant in
            guard grant.isAbout(productID, offerID), grant.isInForce(at: now) else { return false }
            return !state.redemptions.contains { redemption in
                // The ledger does not count an uncertain redemption without a signature.
                redemption.isCertain && redemption.type == .promotional && redemption.productID == productID
                    && redemption.offerID == offerID.text.description && grant.isUsed(at: redemption.firstAt)
            }
        }
    }
}
