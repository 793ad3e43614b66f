import OfferCore

/// The check of the limits for one customer, and the reservation of what they allow. It runs within one transaction.
struct LedgerCheck {
    private let request: LedgerRequest
    private let app: Int64
    private let db: any Database
    /// The customer's authorisations for any offer.
    private let held: [AuthorisationTable.Found]
    /// The customer's redemptions of any promotional offer.
    private let redemptions: [LedgerRedemption]

    init(_ request: LedgerRequest, _ app: Int64, _ db: any Database) throws {
        self.request = request
        self.app = app
        self.db = db
        guard !request.offers.isEmpty else {
            (held, redemptions) = ([], [])
            return
        }
        held = try AuthorisationTable.held(by: request.holders, app, db)
        redemptions = try RedemptionTable.all(
            by: Self.subscriptions(of: request.holders, app, db), explainedBy: held.map(\.id), request.app, db)
    }

    /// The subscriptions that some identifiers name.
    static func subscriptions(of holders: [CustomerIdentifier], _ app: Int64, _ db: any Database) throws -> Set<Int64> {
        var subscriptions: Set<Int64> = []
        for holder in holders {
            switch holder {
            case .originalTransactionID(let original):
                if let id = try SubscriptionTable.id(of: original, app, db) { subscriptions.insert(id) }
            case .applicationUsername: continue
            case .appAccountToken, .appTransactionID, .transactionID:
                subscriptions.formUnion(
                    try IdentifierTable.subscriptions(
                        naming: holder, app, limit: StoredCustomer.maximumSubscriptions, db))
            }
        }
        return subscriptions
    }

    func answers() throws -> [LedgerAnswer] {
        var hasReserved = false
        return try request.offers.map { offer in
            let ofOffer = held.filter {
                $0.authorisation.productID == offer.productID && $0.authorisation.offerID == offer.offerID
            }
            // The change is repeated, because nobody knew what became of it the first time.
            if ofOffer.contains(where: { offer.nonces.contains($0.nonce) }) {
                hasReserved = true
                return .reserved
            }
            let refusals = try view(of: offer, ofOffer).refusals(under: offer.limits, at: request.at)
            guard refusals.isEmpty else { return .refused(refusals) }
            let isWanted =
                switch request.reserving {
                case .nothing: false
                case .first: !hasReserved
                case .all: true
                }
            guard isWanted, !offer.nonces.isEmpty else { return .allowed }
            try reserve(offer, beside: ofOffer)
            hasReserved = true
            return .reserved
        }
    }

    private func view(
        of offer: LedgerRequest.Offer, _ ofOffer: [AuthorisationTable.Found]
    ) throws -> LedgerView {
        let ofThisOffer = redemptions.filter {
            $0.productID == offer.productID && $0.offerID == offer.offerID.text.description
        }
        var slots: Int64 = 0
        if offer.limits.total != nil {
            slots =
                try RedemptionTable.count(of: offer.productID, offer.offerID, app, db)
                + AuthorisationTable.outstandingSlots(of: offer.productID, offer.offerID, at: request.at, app, db)
        }
        return LedgerView(
            authorisations: countedOnce(ofOffer).map(\.authorisation), redemptions: ofThisOffer.map(\.at),
            lastRedemption: redemptions.map(\.at).max(), totalSlots: Int(slots))
    }

    /// Leaves one of the two signatures of an answer. While either is outstanding, the answer is.
    private func countedOnce(_ found: [AuthorisationTable.Found]) -> [AuthorisationTable.Found] {
        let outstanding = Set(found.filter { $0.authorisation.isOutstanding(at: request.at) }.map(\.id))
        return found.filter { found in found.twin.map { !outstanding.contains($0) } ?? true }
    }

    private func reserve(_ offer: LedgerRequest.Offer, beside ofOffer: [AuthorisationTable.Found]) throws {
        var slot = ofOffer.first { $0.authorisation.isOutstanding(at: request.at) }?.slot
        var twin: Int64?
        for nonce in offer.nonces {
            let authorisation = Authorisation(
                productID: offer.productID, offerID: offer.offerID, state: .outstanding, at: request.at,
                expiresAt: offer.expiresAt)
            let added = try AuthorisationTable.add(
                authorisation, nonce, heldBy: request.holders, slot: slot, twin: twin, app, db)
            guard let added else { throw StoreError(.fault, "two signatures have one nonce") }
            (slot, twin) = (added.slot, added.id)
        }
        for case .originalTransactionID(let original) in request.holders {
            guard let subscription = try SubscriptionTable.id(of: original, app, db) else { continue }
            try FactMerge.setCheck(of: subscription, original, FactTable.all(subscription, of: original, db), db)
        }
    }
}
