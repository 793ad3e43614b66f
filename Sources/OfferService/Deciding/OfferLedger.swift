import OfferAudit
import OfferCore
import OfferEligibility
import SubscriberStore
import SubscriberSync

/// The signatures to make for one offer that a rule allows.
struct SignaturePlan: Sendable {
    let terms: OfferTerms
    /// The nonce of the V1 signature; nil if none is made, because it would not name the sandbox.
    let v1: Nonce?
    /// nil if no JWS is made.
    let jws: JWS?
    /// The timestamp of the signatures.
    let at: Timestamp
    /// The time at which they free their slot.
    let expiresAt: Timestamp
    /// The time at which the last of them becomes worthless; nil if it is the same.
    var validUntil: Timestamp?

    struct JWS: Sendable {
        let nonce: Nonce
        let transactionID: TransactionID
    }

    /// The JWS comes first: it is bound to a transaction, and a V1 signature is not.
    var nonces: [Nonce] { [jws?.nonce, v1].compactMap(\.self) }

    /// The plan with its first form only.
    fileprivate var withFirstForm: SignaturePlan {
        SignaturePlan(terms: terms, v1: jws == nil ? v1 : nil, jws: jws, at: at, expiresAt: expiresAt)
    }
}

/// A signature to reserve if the limits allow it, and its message.
struct RetentionPlan: Sendable {
    let plan: SignaturePlan
    let form: RetentionReservation.Form
}

/// An offer whose signatures are durably reserved. Nothing else gives the right to sign an offer with a rule, and only
/// ``OfferLedger`` makes one.
struct ReservedOffer: Sendable {
    let app: AppScope
    let plan: SignaturePlan
    let decision: SignedDecision

    /// - Parameters:
    ///   - rules: the digest of the rules.
    ///   - facts: the digest of the facts about the customer.
    fileprivate init(_ plan: SignaturePlan, in app: AppScope, rules: [UInt8], facts: [UInt8]) {
        self.app = app
        self.plan = plan
        decision = SignedDecision(rule: plan.terms.rule.name, rulesDigest: rules, factsDigest: facts)
    }

    /// An offer that the store remembers as reserved.
    /// - Parameters:
    ///   - terms: those of the remembered offer.
    ///   - transactionID: what a JWS is bound to.
    fileprivate init(
        _ remembered: RememberedRetentionOffer, _ terms: OfferTerms, boundTo transactionID: TransactionID,
        in app: AppScope, rules: [UInt8], facts: [UInt8]
    ) {
        let isV1 = remembered.form == .v1
        let plan = SignaturePlan(
            terms: terms, v1: isV1 ? remembered.nonce : nil,
            jws: isV1 ? nil : SignaturePlan.JWS(nonce: remembered.nonce, transactionID: transactionID),
            at: remembered.at, expiresAt: remembered.expiresAt)
        self.init(plan, in: app, rules: rules, facts: facts)
    }
}

/// The store's ledger, for offers that a rule allows.
struct OfferLedger {
    enum Answer {
        /// The limits allow it, and nothing is reserved.
        case allowed
        case reserved(ReservedOffer)
        case refused([ReasonCode])
    }

    let store: CurrentStore
    let metrics: ServiceMetrics

    /// Merges the facts of the proofs, checks the limits and reserves, in one change.
    /// - Parameter plans: the best first.
    /// - Returns: an answer for each plan.
    func ask(
        about plans: [SignaturePlan], for customer: DecisionCustomer, reserving: LedgerRequest.Reserving,
        rules digest: [UInt8], at now: Timestamp
    ) async throws(Problem) -> [Answer] {
        let request = request(about: plans, for: customer, reserving: reserving, at: now)
        guard !plans.isEmpty || !request.facts.isEmpty else { return [] }
        // This comes before any reservation, because it can fail.
        let facts = plans.isEmpty || reserving == .nothing ? [] : try customer.digest()
        let answers: [LedgerAnswer]
        do throws(StoreError) {
            answers =
                request.changesNothing
                ? try await store.read { store async throws(StoreError) in try await store.askLedger(request) }
                : try await store.write { store async throws(StoreError) in try await store.askLedger(request) }
        } catch { throw Problem(error) }
        for (plan, answer) in zip(plans, answers) { metrics.asked(answer, plan.terms, of: customer.app) }
        return zip(plans, answers).map { plan, answer in
            switch answer {
            case .allowed: .allowed
            case .refused(let codes): .refused(codes)
            case .reserved: .reserved(ReservedOffer(plan, in: customer.app, rules: digest, facts: facts))
            case .reservedFirst:
                .reserved(ReservedOffer(plan.withFirstForm, in: customer.app, rules: digest, facts: facts))
            }
        }
    }

    /// The outcome of a reservation for a request for a retention message.
    enum RetentionReservationOutcome {
        /// The limits refuse every offer.
        case refused
        case reserved(ReservedOffer, messageIdentifier: UUIDText)
        /// An earlier request with the same identifier has reserved it.
        case known(RememberedRetentionOffer)
    }

    /// Checks the limits and reserves the first offer that they allow, once for each request for a retention message.
    func reserve(
        _ plans: [RetentionPlan], for customer: DecisionCustomer, answering request: UUIDText,
        rules digest: [UInt8], at now: Timestamp
    ) async throws(Problem) -> RetentionReservationOutcome {
        let reservation = RetentionReservation(
            requestIdentifier: request,
            ledger: self.request(about: plans.map(\.plan), for: customer, reserving: .first, at: now),
            forms: plans.map(\.form))
        let facts = try customer.digest()
        let answer: RetentionReservationAnswer
        do throws(StoreError) {
            answer = try await store.write { store async throws(StoreError) in try await store.reserve(reservation) }
        } catch { throw Problem(error) }
        switch answer {
        case .known(let offer): return .known(offer)
        case .new(let answers):
            for (plan, answer) in zip(plans, answers) { metrics.asked(answer, plan.plan.terms, of: customer.app) }
            guard let place = answers.firstIndex(of: .reserved) else { return .refused }
            return .reserved(
                ReservedOffer(plans[place].plan, in: customer.app, rules: digest, facts: facts),
                messageIdentifier: plans[place].form.messageIdentifier)
        }
    }

    /// An offer that an earlier request with the same identifier has reserved.
    func reserved(
        _ remembered: RememberedRetentionOffer, _ terms: OfferTerms, boundTo transactionID: TransactionID,
        for customer: DecisionCustomer, rules digest: [UInt8]
    ) throws(Problem) -> ReservedOffer {
        ReservedOffer(
            remembered, terms, boundTo: transactionID, in: customer.app, rules: digest, facts: try customer.digest())
    }

    private func request(
        about plans: [SignaturePlan], for customer: DecisionCustomer, reserving: LedgerRequest.Reserving,
        at now: Timestamp
    ) -> LedgerRequest {
        LedgerRequest(
            app: customer.app, facts: customer.newFacts, holders: customer.holders,
            offers: plans.map { plan in
                LedgerRequest.Offer(
                    productID: plan.terms.productID, offerID: plan.terms.offerID, limits: plan.terms.limits,
                    nonces: plan.nonces, expiresAt: plan.expiresAt, validUntil: plan.validUntil)
            }, reserving: reserving, at: now)
    }

    /// Withdraws reservations whose signatures were not sent. A reservation that cannot be withdrawn expires.
    func withdraw(_ offers: [ReservedOffer]) async {
        guard let app = offers.first?.app else { return }
        let nonces = offers.flatMap(\.plan.nonces)
        try? await store.write { store async throws(StoreError) in try await store.withdraw(nonces, in: app) }
    }
}
