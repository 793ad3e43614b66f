package import OfferCore

extension OfferGrant {
    /// Returns the state of the grant.
    /// - Parameters:
    ///   - authorisations: the customer's authorisations.
    ///   - isRedeemed: true if a redemption used the grant.
    package func state(_ authorisations: [Authorisation], isRedeemed: Bool, at now: Timestamp) -> State {
        if isRedeemed { return .redeemed }
        if withdrawal != nil { return .withdrawn }
        let isSigned = authorisations.contains { authorisation in
            isAbout(authorisation.productID, authorisation.offerID) && authorisation.at >= at
                && authorisation.source?.channel == OfferSource.Channel(of: self)
                && authorisation.isOutstanding(at: now)
        }
        if isSigned { return .signed }
        if now >= expiresAt { return .expired }
        return approval == .needed ? .awaitingApproval : .open
    }
}

extension OfferSource.Channel {
    /// The channel of signatures under a grant.
    init(of grant: OfferGrant) { self = grant.campaign == nil ? .grant : .link }
}
