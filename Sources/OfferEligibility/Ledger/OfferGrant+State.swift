package import OfferCore

extension OfferGrant {
    /// Returns the state of the grant.
    /// - Parameters:
    ///   - authorisations: the customer's authorisations.
    ///   - redemptions: the times at which the customer redeemed this offer.
    package func state(
        _ authorisations: [Authorisation], redemptions: [Timestamp], at now: Timestamp
    ) -> State {
        if redemptions.contains(where: isUsed) { return .redeemed }
        if withdrawal != nil { return .withdrawn }
        let isSigned = authorisations.contains { authorisation in
            isAbout(authorisation.productID, authorisation.offerID) && authorisation.at >= at
                && authorisation.source?.channel == .grant && authorisation.isOutstanding(at: now)
        }
        if isSigned { return .signed }
        if now >= expiresAt { return .expired }
        return approval == .needed ? .awaitingApproval : .open
    }
}
