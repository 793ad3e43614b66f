package import OfferCore

/// The ledger's data about an offer with limits and the customer who requests it. The store reads the data and makes
/// the reservation in one transaction.
///
/// All outstanding signatures of a customer for an offer share one slot of its limits. A redemption uses up that slot.
/// The remaining signatures hold another slot until they expire, because a signature cannot be revoked.
package struct LedgerView: Sendable {
    /// The customer's authorisations for this offer. Under a cap, each form of a response counts, because each can be
    /// redeemed.
    package let authorisations: [Authorisation]
    /// The times at which the customer redeemed this offer, whether or not this service authorised it.
    package let redemptions: [Timestamp]
    /// The time of the customer's last redemption of any promotional offer in the app; nil if there is none.
    package let lastRedemption: Timestamp?
    /// The offer's slots of all customers: those used by redemptions and those held by outstanding signatures.
    package let totalSlots: Int
    /// The slots in which the customer has an outstanding signature. Further signatures share them.
    package let heldSlots: Int

    package init(
        authorisations: [Authorisation], redemptions: [Timestamp], lastRedemption: Timestamp?, totalSlots: Int,
        heldSlots: Int
    ) {
        self.authorisations = authorisations
        self.redemptions = redemptions
        self.lastRedemption = lastRedemption
        self.totalSlots = totalSlots
        self.heldSlots = heldSlots
    }

    /// Returns the reasons to issue no further signature; empty if one may be issued.
    package func refusals(under limits: OfferLimits, at now: Timestamp) -> [ReasonCode] {
        let outstanding = outstanding(at: now)
        var refusals: [ReasonCode] = []
        // The slot that this signature takes or shares counts too.
        if let limit = limits.perCustomer, counted(under: limit, at: now) + 1 > limit.count {
            refusals.append(.customerCap)
        }
        if let cooldown = limits.cooldown, let lastRedemption, now < lastRedemption + cooldown {
            refusals.append(.cooldown)
        }
        if outstanding >= limits.outstanding { refusals.append(.outstanding) }
        if let total = limits.total, totalSlots + (outstanding > 0 ? 0 : 1) > total { refusals.append(.totalCap) }
        return refusals
    }

    /// Returns the permitted number of forms in one response, if ``refusals(under:at:)`` is empty.
    ///
    /// Under a cap, each form uses its own place, because each can be redeemed. At least one form is permitted.
    /// - Returns: nil if the number is unlimited.
    package func places(under limits: OfferLimits, at now: Timestamp) -> Int? {
        guard limits.isCapped else { return nil }
        let outstanding = outstanding(at: now)
        var places = limits.outstanding - outstanding
        if let limit = limits.perCustomer {
            places = min(places, limit.count - counted(under: limit, at: now) - outstanding)
        }
        if let total = limits.total { places = min(places, total - totalSlots + heldSlots) }
        return max(1, places)
    }

    private func outstanding(at now: Timestamp) -> Int { authorisations.count { $0.isOutstanding(at: now) } }

    /// Returns the number of redemptions within the limit's window.
    private func counted(under limit: OfferLimits.PerCustomer, at now: Timestamp) -> Int {
        redemptions.count { redemption in limit.every.map { now < redemption + $0 } ?? true }
    }
}
