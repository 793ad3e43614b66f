/// What the ledger knows when a customer asks for an offer with limits. The store reads it and reserves in one transaction.
///
/// A customer's outstanding signatures for an offer share one slot of its limits. A redemption takes that slot for good; signatures
/// left over hold another one until they expire, because a signature cannot be revoked.
package struct LedgerView: Sendable {
    /// The customer's for this offer.
    package let authorisations: [Authorisation]
    /// When the customer redeemed this offer, authorised here or not.
    package let redemptions: [Timestamp]
    /// When the customer last redeemed any promotional offer of the app; nil for never.
    package let lastRedemption: Timestamp?
    /// The slots of the offer that all customers hold: redeemed ones, and one for each customer with something outstanding.
    package let totalSlots: Int

    package init(
        authorisations: [Authorisation], redemptions: [Timestamp], lastRedemption: Timestamp?, totalSlots: Int
    ) {
        self.authorisations = authorisations
        self.redemptions = redemptions
        self.lastRedemption = lastRedemption
        self.totalSlots = totalSlots
    }

    /// Why no further signature may be handed out. Empty if one may.
    package func refusals(under limits: OfferLimits, at now: Timestamp) -> [ReasonCode] {
        let outstanding = authorisations.count { $0.isOutstanding(at: now) }
        var refusals: [ReasonCode] = []
        if let limit = limits.perCustomer {
            let counted = redemptions.count { redemption in limit.every.map { now < redemption + $0 } ?? true }
            // The slot that this signature takes or shares counts too.
            if counted + 1 > limit.count { refusals.append(.customerCap) }
        }
        if let cooldown = limits.cooldown, let lastRedemption, now < lastRedemption + cooldown {
            refusals.append(.cooldown)
        }
        if outstanding >= limits.outstanding { refusals.append(.outstanding) }
        if let total = limits.total, totalSlots + (outstanding > 0 ? 0 : 1) > total { refusals.append(.totalCap) }
        return refusals
    }
}
