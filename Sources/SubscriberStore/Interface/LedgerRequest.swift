package import OfferCore
package import OfferEligibility

/// A request to the ledger for one customer, before anything is signed.
package struct LedgerRequest: Sendable {
    /// An offer that its rule allows for the customer.
    package struct Offer: Sendable {
        package let productID: ProductID
        package let offerID: OfferID
        package let limits: OfferLimits
        /// The nonces of the signatures to make, one for each form, with the preferred form first. They also identify
        /// the authorisations. Without a cap, the signatures share a slot and count as one, because they are sent in
        /// one answer. Under a cap, each takes a place, because each can be redeemed. If the list is empty, nothing is
        /// reserved.
        package let nonces: [Nonce]
        package let expiresAt: Timestamp
        /// The time at which the signatures become unusable.
        package let validUntil: Timestamp
        /// nil if it is not recorded.
        package let source: OfferSource?
        /// The new exposures of the customer, recorded if the offer is reserved.
        package let exposures: [Exposure]
        /// The grant on which the decision is based; nil if a rule allows the offer.
        package let grant: UUIDText?

        /// - Parameter validUntil: nil means `expiresAt`.
        package init(
            productID: ProductID, offerID: OfferID, limits: OfferLimits, nonces: [Nonce], expiresAt: Timestamp,
            validUntil: Timestamp? = nil, source: OfferSource? = nil, exposures: [Exposure] = [],
            grant: UUIDText? = nil
        ) {
            self.productID = productID
            self.offerID = offerID
            self.limits = limits
            self.nonces = nonces
            self.expiresAt = expiresAt
            self.validUntil = validUntil ?? expiresAt
            self.source = source
            self.exposures = exposures
            self.grant = grant
        }
    }

    /// An offer from which the customer is held out.
    package struct HeldOutOffer: Sendable {
        package let productID: ProductID
        package let offerID: OfferID
        package let limits: OfferLimits
        /// The number of offers that are better. If only the best offer is reserved, and one of these is, the customer
        /// would not have had this offer anyway.
        package let place: Int
        /// The new exposures of the customer, recorded if the limits would have allowed the offer.
        package let exposures: [Exposure]

        package init(
            productID: ProductID, offerID: OfferID, limits: OfferLimits, place: Int, exposures: [Exposure]
        ) {
            self.productID = productID
            self.offerID = offerID
            self.limits = limits
            self.place = place
            self.exposures = exposures
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
    /// The account and each subscription on which the decision was based. The same purchases share a slot, even under
    /// another identifier.
    package let holders: [CustomerIdentifier]
    /// The offers, with the best offer first.
    package let offers: [Offer]
    package let reserving: Reserving
    /// The offers from which the customer is held out; none if nothing is reserved.
    package let heldOut: [HeldOutOffer]
    /// The new exposures to record whatever the limits say.
    package let exposures: [Exposure]
    package let at: Timestamp
    /// The claim of the request's `Idempotency-Key`; nil if it has none. If another process took it over, nothing is
    /// changed.
    package let claim: IdempotentRequest.Claim?

    package init(
        app: AppScope, facts: [SubscriberFact] = [], holders: [CustomerIdentifier], offers: [Offer],
        reserving: Reserving, heldOut: [HeldOutOffer] = [], exposures: [Exposure] = [], at: Timestamp,
        claim: IdempotentRequest.Claim? = nil
    ) {
        self.app = app
        self.facts = facts
        self.holders = holders
        self.offers = offers
        self.reserving = reserving
        self.heldOut = heldOut
        self.exposures = exposures
        self.at = at
        self.claim = claim
    }

    /// True if the request changes nothing in the database.
    package var changesNothing: Bool {
        facts.isEmpty && heldOut.isEmpty && exposures.isEmpty
            && (reserving == .nothing || offers.allSatisfy(\.nonces.isEmpty))
    }
}

/// The ledger's answer for one offer.
package enum LedgerResult: Hashable, Sendable {
    /// The limits allow a signature. Nothing is reserved.
    case allowed
    /// The reservation is durable, so the signatures may be made.
    case reserved
    /// The reservation is durable, but only the first of the signatures may be made, because the limits leave only one
    /// place.
    case reservedFirst
    /// The limits allow no signature, for these reasons.
    case refused([ReasonCode])
    /// Another process took over the request's claim, so nothing is changed.
    case takenOver

    package var isReserved: Bool { self == .reserved || self == .reservedFirst }
}

/// A redemption of a promotional offer, as counted by the ledger.
package struct LedgerRedemption: Hashable, Sendable {
    /// The number of the redemption. Numbers increase in the order of recording.
    package let number: Int64
    package let app: AppScope
    /// The subscription; nil after its erasure.
    package let originalTransactionID: TransactionID?
    package let productID: ProductID
    /// The offer ID reported by the App Store.
    package let offerID: String
    /// The number among the subscription's redemptions of the offer.
    package let ordinal: Int64
    /// The start of the first discounted period, or the time of ``firstAt`` before it has begun.
    package let at: Timestamp
    /// The time at which the customer redeemed the offer, as far as known. It never moves to a later time.
    package let firstAt: Timestamp
    /// The issue time of the signature that explains the redemption; nil if there is none.
    package let authorisedAt: Timestamp?
    /// The rule of that signature; nil if it has no name or was not recorded.
    package let rule: String?

    package init(
        number: Int64, app: AppScope, originalTransactionID: TransactionID?, productID: ProductID, offerID: String,
        ordinal: Int64, at: Timestamp, firstAt: Timestamp, authorisedAt: Timestamp?, rule: String? = nil
    ) {
        self.number = number
        self.app = app
        self.originalTransactionID = originalTransactionID
        self.productID = productID
        self.offerID = offerID
        self.ordinal = ordinal
        self.at = at
        self.firstAt = firstAt
        self.authorisedAt = authorisedAt
        self.rule = rule
    }

    /// Returns true if the redemption uses a grant.
    package func uses(_ grant: OfferGrant) -> Bool {
        productID == grant.productID && offerID == grant.offerID.text.description && grant.isUsed(at: firstAt)
    }
}

/// A person's statement that a redemption without a signature was investigated.
package struct Acknowledgement: Hashable, Sendable {
    /// The number of the redemption.
    package let number: Int64
    package let at: Timestamp
    /// nil if it is unknown, as in earlier versions.
    package let person: String?
    /// The cause, as the person describes it; nil if there is none.
    package let note: String?

    package init(_ number: Int64, at: Timestamp, by person: String?, note: String?) {
        self.number = number
        self.at = at
        self.person = person
        self.note = note
    }
}

package struct AcknowledgedRedemption: Hashable, Sendable {
    package let redemption: LedgerRedemption
    package let acknowledgement: Acknowledgement
}

/// The ledger's entries for one customer.
package struct LedgerEntries: Hashable, Sendable {
    /// The authorisations, oldest first.
    package let authorisations: [Authorisation]
    /// The redemptions in the order of recording.
    package let redemptions: [LedgerRedemption]
    /// The identifiers that hold each authorisation, in the order of the authorisations. The Apple Account is left out if
    /// another holder is erased.
    package let holders: [[CustomerIdentifier]]

    package init(
        authorisations: [Authorisation] = [], redemptions: [LedgerRedemption] = [], holders: [[CustomerIdentifier]] = []
    ) {
        self.authorisations = authorisations
        self.redemptions = redemptions
        self.holders = holders
    }

    /// Returns the entries that are a person's own. On an Apple Account that several persons use, the others' entries count
    /// under the limits too.
    /// - Parameter own: the person's accounts and subscriptions. A signature that names no account and no subscription, but
    ///   the Apple Account alone, is everybody's.
    package func own(by own: Set<CustomerIdentifier>) -> LedgerEntries {
        let kept = zip(authorisations, holders).filter { _, holders in
            holders.contains(where: own.contains) || !holders.isEmpty && holders.allSatisfy(\.isAppleAccount)
        }
        return LedgerEntries(
            authorisations: kept.map(\.0),
            redemptions: redemptions.filter { redemption in
                redemption.originalTransactionID.map { own.contains(.originalTransactionID($0)) } ?? false
            }, holders: kept.map(\.1))
    }
}

extension CustomerIdentifier {
    fileprivate var isAppleAccount: Bool {
        if case .appTransactionID = self { true } else { false }
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

/// The redemptions that need an authorisation: all redemptions in some apps, except those of offers that are signed
/// without the ledger. Redemptions of offers that are not configured are included.
package struct LedgerCoverage: Hashable, Sendable {
    package let apps: Set<AppScope>
    /// The offers that are decided by a rule, so only this service signs them.
    package let decided: Set<LedgerOffer>
    /// The offers without a rule, and those that another server also signs.
    package let exempt: Set<LedgerOffer>
    /// The share of customers in each sample, by name.
    package let samples: [AppScope: [String: Double]]

    package init(
        apps: Set<AppScope> = [], decided: Set<LedgerOffer> = [], exempt: Set<LedgerOffer> = [],
        samples: [AppScope: [String: Double]] = [:]
    ) {
        self.apps = apps
        self.decided = decided
        self.exempt = exempt
        self.samples = samples
    }
}
