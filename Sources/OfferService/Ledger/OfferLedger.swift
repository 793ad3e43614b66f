import Logging
import OfferAudit
import OfferCore
import OfferEligibility
import SubscriberStore
import SubscriberSync

/// An offer whose signatures are durably reserved. An offer with a rule cannot be signed without it, and only
/// ``OfferLedger`` makes one.
struct ReservedOffer: Sendable {
    let app: AppScope
    let plan: SignaturePlan
    let decision: SignedDecision

    var item: CatalogueItem { plan.terms.item(of: app.bundleID) }

    /// - Parameters:
    ///   - rules: the digest of the rules.
    ///   - facts: the digest of the facts about the customer.
    fileprivate init(_ plan: SignaturePlan, in app: AppScope, rules: [UInt8], facts: [UInt8]) {
        self.app = app
        self.plan = plan
        decision = SignedDecision(rule: plan.terms.rule.name, rulesDigest: rules, factsDigest: facts)
    }

    /// Creates an offer from the reservation that the store remembers.
    /// - Parameters:
    ///   - terms: the terms of the remembered offer.
    ///   - transactionID: the transaction that a JWS is bound to.
    fileprivate init(
        _ remembered: RememberedRetentionOffer, _ terms: OfferTerms, boundTo transactionID: TransactionID,
        in app: AppScope, rules: [UInt8], facts: [UInt8]
    ) {
        let isV1 = remembered.form == .v1
        let plan = SignaturePlan(
            terms: terms, places: [], v1: isV1 ? remembered.nonce : nil,
            jws: isV1 ? nil : SignaturePlan.JWS(nonce: remembered.nonce, transactionID: transactionID),
            at: remembered.at, expiresAt: remembered.expiresAt)
        self.init(plan, in: app, rules: rules, facts: facts)
    }
}

/// The reservations that one request has made but not yet kept.
struct Reservations {
    fileprivate var unanswered: [ReservedOffer] = []

    /// Keeps the reservations of an answer that will be sent. The answer's audit entries must be durable.
    mutating func keep(_ offers: [ReservedOffer]) {
        let nonces = Set(offers.flatMap(\.plan.nonces))
        unanswered.removeAll { !nonces.isDisjoint(with: $0.plan.nonces) }
    }
}

/// The store's ledger, for offers that a rule allows.
struct OfferLedger: Sendable {
    enum Outcome {
        /// The limits allow the offer, and nothing is reserved.
        case allowed
        case reserved(ReservedOffer)
        case refused([ReasonCode])
    }

    let store: CurrentStore
    let metrics: ServiceMetrics
    let log: Logger

    /// Runs the part of a request that makes reservations. Afterwards, reservations that it did not keep are withdrawn,
    /// even if it failed.
    func withReservations<Answer>(
        _ answer: (inout Reservations) async throws(Problem) -> Answer
    ) async throws(Problem) -> Answer {
        var reservations = Reservations()
        let result: Result<Answer, Problem>
        do throws(Problem) { result = .success(try await answer(&reservations)) } catch { result = .failure(error) }
        await withdraw(reservations.unanswered)
        return try result.get()
    }

    /// Merges the facts of the proofs, checks the limits and reserves the offers, in one change to the store.
    /// - Parameters:
    ///   - plans: the plans, the best first.
    ///   - heldOut: the offers from which the customer is held out.
    ///   - claim: the claim of the request's `Idempotency-Key`.
    /// - Returns: an outcome for each plan.
    func reserve(
        _ reserving: LedgerRequest.Reserving, of plans: [SignaturePlan], heldOut: [HeldOutPlan] = [],
        for customer: EvaluatedCustomer, rules digest: [UInt8], at now: Timestamp,
        under claim: IdempotentRequest.Claim?, _ reservations: inout Reservations
    ) async throws(Problem) -> [Outcome] {
        let new = NewExposures(customer: customer, channel: .decision, rulesDigest: digest, at: now)
        let request = request(plans, heldOut: heldOut, new, reserving: reserving, under: claim)
        guard !plans.isEmpty || !request.changesNothing else { return [] }
        // The digest is computed before any reservation, because it can fail.
        let facts = plans.isEmpty || reserving == .nothing ? [] : try customer.digest()
        let answers: [LedgerResult]
        do throws(StoreError) {
            answers = try await store.reserve(request)
        } catch { throw Problem(error) }
        guard !answers.contains(.takenOver) else { throw .takenOver }
        metrics.exposed(request, answers)
        var outcomes: [Outcome] = []
        for (plan, answer) in zip(plans, answers) {
            metrics.reserved(answer, plan.terms, of: customer.app)
            switch answer {
            case .allowed: outcomes.append(.allowed)
            case .refused(let codes): outcomes.append(.refused(codes))
            case .takenOver: break
            case .reserved, .reservedFirst:
                let offer = ReservedOffer(
                    answer == .reserved ? plan : plan.withFirstForm, in: customer.app, rules: digest, facts: facts)
                reservations.unanswered.append(offer)
                outcomes.append(.reserved(offer))
            }
        }
        return outcomes
    }

    /// Merges the facts of the proofs into the store.
    func merge(_ customer: EvaluatedCustomer, at now: Timestamp) async throws(Problem) {
        try await change(
            LedgerRequest(
                app: customer.app, facts: customer.newFacts, holders: customer.holders, offers: [],
                reserving: .nothing, at: now))
    }

    /// Records exposures without a reservation.
    func record(_ new: ExposuresToRecord) async throws(Problem) {
        try await change(
            LedgerRequest(
                app: new.app, holders: [], offers: [], reserving: .nothing, exposures: new.exposures, at: new.at))
    }

    private func change(_ request: LedgerRequest) async throws(Problem) {
        guard !request.changesNothing else { return }
        do throws(StoreError) {
            _ = try await store.reserve(request)
        } catch { throw Problem(error) }
        metrics.exposed(request, [])
    }

    /// Merges proofs into the store. A failure is only logged.
    func merge(_ proofs: VerifiedProofs, of app: AppScope, at now: Timestamp) async {
        guard store.isHealthy else { return }
        do {
            let facts = try proofs.facts(at: now)
            try await store.merge(facts, in: app)
        } catch {
            log.debug("proofs not stored", metadata: ["reason": "\(error)"])
        }
    }

    /// The outcome of reserving an offer for a retention message.
    enum RetentionReservationOutcome {
        /// The limits refuse every offer.
        case refused
        case reserved(ReservedOffer, by: RetentionPlan)
        /// An earlier request with the same identifier reserved the offer.
        case known(RememberedRetentionOffer)
    }

    /// Checks the limits and reserves the first offer that they allow, once for each request for a retention message.
    /// - Parameter plans: at least one.
    func reserve(
        _ plans: [RetentionPlan], heldOut: [HeldOutPlan], for customer: EvaluatedCustomer, answering request: UUIDText,
        rules digest: [UInt8], at now: Timestamp, _ reservations: inout Reservations
    ) async throws(Problem) -> RetentionReservationOutcome {
        let new = NewExposures(customer: customer, channel: .retention, rulesDigest: digest, at: now)
        let reservation = RetentionReservation(
            requestIdentifier: request,
            ledger: self.request(
                plans.map(\.plan), cases: plans.map(\.caseNumber), heldOut: heldOut, new, reserving: .first),
            forms: plans.map(\.form))
        let facts = try customer.digest()
        let answer: RetentionReservationAnswer
        do throws(StoreError) {
            answer = try await store.reserve(reservation)
        } catch { throw Problem(error) }
        switch answer {
        case .known(let offer): return .known(offer)
        case .new(let answers):
            metrics.exposed(reservation.ledger, answers)
            for (plan, answer) in zip(plans, answers) { metrics.reserved(answer, plan.plan.terms, of: customer.app) }
            guard let place = answers.firstIndex(of: .reserved) else { return .refused }
            let offer = ReservedOffer(plans[place].plan, in: customer.app, rules: digest, facts: facts)
            reservations.unanswered.append(offer)
            return .reserved(offer, by: plans[place])
        }
    }

    /// Returns an offer that an earlier request with the same identifier reserved.
    func reserved(
        _ remembered: RememberedRetentionOffer, _ terms: OfferTerms, boundTo transactionID: TransactionID,
        for customer: EvaluatedCustomer, rules digest: [UInt8]
    ) throws(Problem) -> ReservedOffer {
        ReservedOffer(
            remembered, terms, boundTo: transactionID, in: customer.app, rules: digest, facts: try customer.digest())
    }

    /// Records that a customer who is about to cancel was held out of every offer.
    func recordHeldOut(
        _ heldOut: [HeldOutPlan], for customer: EvaluatedCustomer, rules digest: [UInt8], at now: Timestamp
    ) async throws(Problem) {
        let new = NewExposures(customer: customer, channel: .retention, rulesDigest: digest, at: now)
        try await change(request([], heldOut: heldOut, new, reserving: .first))
    }

    /// - Parameter cases: the numbers of the retention cases, one for each plan; empty in other channels.
    private func request(
        _ plans: [SignaturePlan], cases: [Int64?] = [], heldOut: [HeldOutPlan], _ new: NewExposures,
        reserving: LedgerRequest.Reserving, under claim: IdempotentRequest.Claim? = nil
    ) -> LedgerRequest {
        LedgerRequest(
            app: new.customer.app, facts: new.customer.newFacts, holders: new.customer.holders,
            offers: plans.enumerated().map { place, plan in
                let terms = plan.terms
                let retentionCase = place < cases.count ? cases[place] : nil
                return LedgerRequest.Offer(
                    productID: terms.productID, offerID: terms.offerID, limits: terms.limits,
                    nonces: plan.nonces, expiresAt: plan.expiresAt, validUntil: plan.validUntil,
                    source: new.source(of: terms.rule, grant: terms.grantChannel, retentionCase),
                    exposures: new.to(
                        terms.productID, terms.offerID, by: terms.rule, .offered, plan.places,
                        grant: terms.grantChannel),
                    grant: terms.grant)
            }, reserving: reserving,
            heldOut: heldOut.compactMap { offer in
                let terms = offer.terms
                let exposures = new.to(terms.productID, terms.offerID, by: terms.rule, .heldOut, offer.places)
                return exposures.isEmpty
                    ? nil
                    : LedgerRequest.HeldOutOffer(
                        productID: terms.productID, offerID: terms.offerID, limits: terms.limits, place: offer.place,
                        exposures: exposures)
            }, at: new.at, claim: claim)
    }

    /// Withdraws reservations whose signatures were not sent. A reservation that cannot be withdrawn expires.
    private func withdraw(_ offers: [ReservedOffer]) async {
        guard let app = offers.first?.app else { return }
        let nonces = offers.flatMap(\.plan.nonces)
        try? await store.withdraw(nonces, in: app)
    }
}

extension OfferTerms {
    /// The channel of a signature under the grant; nil without a grant.
    fileprivate var grantChannel: OfferSource.Channel? {
        grant == nil ? nil : campaign == nil ? .grant : .link
    }
}
