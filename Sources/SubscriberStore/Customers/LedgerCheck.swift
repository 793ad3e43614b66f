import OfferCore
import OfferEligibility

/// The limit check for one customer and the reservation of the allowed offers, within one transaction.
struct LedgerCheck {
    private let request: LedgerRequest
    private let app: Int64
    private let db: any Database
    /// The customer's authorisations for any offer, including those reserved by this request.
    private var held: [AuthorisationTable.Found]
    /// The customer's redemptions of any promotional offer.
    private let redemptions: [LedgerRedemption]

    init(_ request: LedgerRequest, _ app: Int64, _ db: any Database) throws {
        self.request = request
        self.app = app
        self.db = db
        guard !request.offers.isEmpty || !request.heldOut.isEmpty else {
            (held, redemptions) = ([], [])
            return
        }
        held = try AuthorisationTable.held(by: request.holders, app, db)
        redemptions = try RedemptionTable.all(
            by: Self.subscriptions(of: request.holders, app, db), explainedBy: held.map(\.id), request.app, db)
    }

    /// Returns the subscriptions named by any of the identifiers.
    static func subscriptions(of holders: [CustomerIdentifier], _ app: Int64, _ db: any Database) throws -> Set<Int64> {
        let queries: [Query] = holders.compactMap { holder in
            switch holder {
            case .originalTransactionID(let original): SubscriptionTable.id(of: original, app)
            case .applicationUsername: nil
            case .appAccountToken, .appTransactionID, .transactionID:
                IdentifierTable.subscriptions(naming: holder, app, limit: StoredCustomer.maximumSubscriptions)
            }
        }
        return try Set(db.rows(queries).joined().map { try $0["id"] })
    }

    /// - Returns: an answer for each offer. An offer that occurs twice is counted twice.
    mutating func answers() throws -> [LedgerResult] {
        var answers: [LedgerResult] = []
        var hasReserved = false
        for offer in request.offers {
            let answer = try answer(for: offer, hasReserved: hasReserved)
            if answer.isReserved {
                hasReserved = true
                for exposure in offer.exposures { try ExposureTable.add(exposure, app, db) }
            }
            answers.append(answer)
        }
        for offer in request.heldOut where try isExposed(to: offer, answers) {
            for exposure in offer.exposures { try ExposureTable.add(exposure, app, db) }
        }
        for exposure in request.exposures { try ExposureTable.add(exposure, app, db) }
        return answers
    }

    /// Returns true if the customer would have had an offer, if not for the sample.
    private func isExposed(to offer: LedgerRequest.HeldOutOffer, _ answers: [LedgerResult]) throws -> Bool {
        guard request.reserving == .all || !answers.prefix(offer.place).contains(where: \.isReserved) else {
            return false
        }
        let view = try view(of: offer.productID, offer.offerID, offer.limits, held(offer.productID, offer.offerID))
        return view.refusals(under: offer.limits, at: request.at).isEmpty
    }

    private func held(_ productID: ProductID, _ offerID: OfferID) -> [AuthorisationTable.Found] {
        held.filter { $0.authorisation.productID == productID && $0.authorisation.offerID == offerID }
    }

    private mutating func answer(for offer: LedgerRequest.Offer, hasReserved: Bool) throws -> LedgerResult {
        let ofOffer = held(offer.productID, offer.offerID)
        // Known nonces mean that the change is being repeated, because its first outcome was unknown.
        let known = offer.nonces.count { nonce in ofOffer.contains { $0.nonce == nonce } }
        guard known == 0 else { return known == offer.nonces.count ? .reserved : .reservedFirst }
        let view = try view(of: offer.productID, offer.offerID, offer.limits, ofOffer)
        if let grant = offer.grant, request.reserving != .nothing, try !isInForce(grant) {
            return .refused([.grantEnded])
        }
        let refusals = view.refusals(under: offer.limits, at: request.at)
        guard refusals.isEmpty else { return .refused(refusals) }
        let isWanted =
            switch request.reserving {
            case .nothing: false
            case .first: !hasReserved
            case .all: true
            }
        guard isWanted, !offer.nonces.isEmpty else { return .allowed }
        let nonces = offer.nonces.prefix(view.places(under: offer.limits, at: request.at) ?? offer.nonces.count)
        try reserve(nonces, of: offer, beside: ofOffer)
        return nonces.count == offer.nonces.count ? .reserved : .reservedFirst
    }

    /// Returns true if a grant still counts. It may have ended since the decision.
    private func isInForce(_ grant: UUIDText) throws -> Bool {
        guard let grant = try GrantTable.grant(grant, app, db) else { return false }
        // An erasure keeps the grant, but not its customer.
        return grant.subject.customer != nil && grant.isInForce(at: request.at)
            && !redemptions.contains { $0.uses(grant) }
    }

    private func view(
        of productID: ProductID, _ offerID: OfferID, _ limits: OfferLimits, _ ofOffer: [AuthorisationTable.Found]
    ) throws -> LedgerView {
        let ofThisOffer = redemptions.filter {
            $0.productID == productID && $0.offerID == offerID.text.description
        }
        let slots = try limits.total.map { _ in
            try AuthorisationTable.slots(of: productID, offerID, at: request.at, app, db)
        }
        return LedgerView(
            authorisations: (limits.isCapped ? ofOffer : countedOnce(ofOffer)).map(\.authorisation),
            redemptions: ofThisOffer.map(\.at), lastRedemption: redemptions.map(\.at).max(),
            totalSlots: Int(slots ?? 0), heldSlots: outstandingSlots(of: ofOffer).count)
    }

    /// Returns the slots in which the customer has an outstanding signature, oldest first.
    private func outstandingSlots(of found: [AuthorisationTable.Found]) -> [Int64] {
        Set(found.filter { $0.authorisation.isOutstanding(at: request.at) }.map(\.slot)).sorted()
    }

    /// Omits the second signature of an answer while the first is outstanding, so the answer counts once.
    private func countedOnce(_ found: [AuthorisationTable.Found]) -> [AuthorisationTable.Found] {
        let outstanding = Set(found.filter { $0.authorisation.isOutstanding(at: request.at) }.map(\.id))
        return found.filter { found in found.twin.map { !outstanding.contains($0) } ?? true }
    }

    private mutating func reserve(
        _ nonces: ArraySlice<Nonce>, of offer: LedgerRequest.Offer, beside ofOffer: [AuthorisationTable.Found]
    ) throws {
        // Each form shares a slot that the customer holds, or takes a new one. Without a cap, all forms share one slot.
        var slots = outstandingSlots(of: ofOffer)
        var twin: Int64?
        for (place, nonce) in nonces.enumerated() {
            let authorisation = Authorisation(
                productID: offer.productID, offerID: offer.offerID, state: .outstanding, at: request.at,
                expiresAt: offer.expiresAt, validUntil: offer.validUntil, source: offer.source)
            let slot = offer.limits.isCapped ? slots.dropFirst(place).first : slots.first
            let added = try AuthorisationTable.add(
                authorisation, nonce, heldBy: request.holders, slot: slot, twin: twin, app, db)
            guard let added else { throw StoreError(.fault, "two signatures share a nonce") }
            held.append(
                AuthorisationTable.Found(
                    id: added.id, nonce: nonce, slot: added.slot, twin: twin, authorisation: authorisation))
            if slot == nil { slots.append(added.slot) }
            twin = added.id
        }
        for case .originalTransactionID(let original) in request.holders {
            guard let subscription = try SubscriptionTable.id(of: original, app, db) else { continue }
            try FactMerge.setCheck(of: subscription, original, FactTable.all(subscription, of: original, db), db)
        }
    }
}
