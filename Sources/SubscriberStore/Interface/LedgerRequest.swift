package import OfferCore
package import OfferEligibility

/// A request to the ledger for one customer, before anything is signed.
package struct LedgerRequest: Sendable {
    /// An offer that the customer may have by its rule.
    package struct Offer: Sendable {
        package let productID: ProductID
        package let offerID: OfferID
        package let limits: OfferLimits
        /// The nonces of the signatures to make, which name the authorisations: one for each form, the preferred form
        /// first. Without a cap, they share a slot and count as one signature, because they are sent in one answer.
        /// Under a cap, each takes a place, because each can be redeemed. Empty to check without reserving.
        package let nonces: [Nonce]
        package let expiresAt: Timestamp
        /// The time at which the signatures become unusable.
        package let validUntil: Timestamp

        /// - Parameter validUntil: nil means `expiresAt`.
        package init(
            productID: ProductID, offerID: OfferID, limits: OfferLimits, nonces: [Nonce], expiresAt: Timestamp,
            validUntil: Timestamp? = nil
        ) {
            self.productID = productID
            self.offerID = offerID
            self.limits = limits
            self.nonces = nonces
            self.expiresAt = expiresAt
            self.validUntil = validUntil ?? expiresAt
        }
    }

    /// The offers to reserve.
    package enum Reserving: Hashable, Sendable {
        case nothing
        /// The first offer that the limits allow.
        case first
        case all
    }

    package let app: AppScope
    /// The facts to merge first, in the same change, as if they had arrived in a notification.
    package let facts: [SubscriberFact]
    /// The account and each subscription that the decision was based on. The same purchases under another name hold the
    /// same slot.
    package let holders: [CustomerIdentifier]
    /// The best comes first.
    package let offers: [Offer]
    package let reserving: Reserving
    package let at: Timestamp

    package init(
        app: AppScope, facts: [SubscriberFact] = [], holders: [CustomerIdentifier], offers: [Offer],
        reserving: Reserving, at: Timestamp
    ) {
        self.app = app
        self.facts = facts
        self.holders = holders
        self.offers = offers
        self.reserving = reserving
        self.at = at
    }

    /// True if the answer needs no change.
    package var changesNothing: Bool {
        facts.isEmpty && (reserving == .nothing || offers.allSatisfy(\.nonces.isEmpty))
    }
}

/// The ledger's answer for one offer.
package enum LedgerResult: Hashable, Sendable {
    /// The limits allow a signature. Nothing is reserved.
    case allowed
    /// The reservation is durable, so the signatures may be made.
    case reserved
    /// The reservation is durable, but only the first of the signatures may be made, because the limits leave one
    /// place.
    case reservedFirst
    /// The limits that are reached.
    case refused([ReasonCode])
}

/// A redemption of a promotional offer, as the ledger counts it.
package struct LedgerRedemption: Hashable, Sendable {
    /// The number in the order of recording.
    package let number: Int64
    package let app: AppScope
    /// nil after the erasure of the subscription.
    package let originalTransactionID: TransactionID?
    package let productID: ProductID
    /// The offer ID as the App Store names it.
    package let offerID: String
    package let at: Timestamp
    /// The issue time of the signature that explains it; nil if there is none.
    package let authorisedAt: Timestamp?

    package init(
        number: Int64, app: AppScope, originalTransactionID: TransactionID?, productID: ProductID, offerID: String,
        at: Timestamp, authorisedAt: Timestamp?
    ) {
        self.number = number
        self.app = app
        self.originalTransactionID = originalTransactionID
        self.productID = productID
        self.offerID = offerID
        self.at = at
        self.authorisedAt = authorisedAt
    }
}

/// The ledger's entries for one customer.
package struct LedgerEntries: Hashable, Sendable {
    /// The oldest comes first.
    package let authorisations: [Authorisation]
    /// The redemptions in the order of recording.
    package let redemptions: [LedgerRedemption]

    package init(authorisations: [Authorisation] = [], redemptions: [LedgerRedemption] = []) {
        self.authorisations = authorisations
        self.redemptions = redemptions
    }
}

/// An offer of an app in one environment.
package struct LedgerOffer: Hashable, Sendable {
    package let app: AppScope
    package let productID: ProductID
    package let offerID: OfferID

    package init(app: AppScope, productID: ProductID, offerID: OfferID) {
        self.app = app
        self.productID = productID
        self.offerID = offerID
    }
}

/// The redemptions that need an authorisation: all redemptions in some apps, even of offers that are not configured,
/// except offers that are signed without the ledger.
package struct LedgerCoverage: Hashable, Sendable {
    package let apps: Set<AppScope>
    /// The offers that are decided by a rule, so only this service signs them.
    package let decided: Set<LedgerOffer>
    /// The offers without a rule, and those that another server signs too.
    package let exempt: Set<LedgerOffer>

    package init(apps: Set<AppScope> = [], decided: Set<LedgerOffer> = [], exempt: Set<LedgerOffer> = []) {
        self.apps = apps
        self.decided = decided
        self.exempt = exempt
    }
}
