import OfferAudit
import OfferConfiguration
import OfferCore
import OfferEligibility
import SubscriberStore
import SubscriberSync

/// The decision path for a customer who is about to cancel. It chooses a message, and signs the offer if the message
/// has one.
///
/// ```
/// store ─▶ facts ─▶ decide ─▶ reserve ─▶ sign ─▶ verify ─▶ audit ─▶ give
/// ```
struct RetentionDecider: Sendable {
    private let decider: OfferDecider

    init(_ decider: OfferDecider) {
        self.decider = decider
    }

    private var signer: OfferSigner { decider.signer }
    private var ledger: OfferLedger { decider.ledger }

    /// Chooses an answer and settles the claim with it.
    /// - Parameter claim: the right to settle the answer. Once it is closed, nothing is signed and no reservation is
    ///   kept.
    /// - Returns: the answer; nil if it came too late.
    func answer(
        _ request: VerifiedRetentionRequest, _ admission: Admission, _ claim: RetentionAnswers.Claim
    ) async -> RetentionAnswer? {
        do throws(Problem) {
            return try await ledger.withReservations { reservations async throws(Problem) in
                let (answer, reserved) = try await choose(request, admission, claim, &reservations)
                guard claim.settle(answer) else { return nil }
                if let reserved { reservations.keep([reserved]) }
                return answer
            }
        } catch {
            let answer = RetentionAnswer(without: error.code == .storeUnavailable ? .store : .signing, request)
            return claim.settle(answer) ? answer : nil
        }
    }

    /// Records an answer that was given, for reports.
    func record(_ answer: RetentionAnswer, to request: VerifiedRetentionRequest) async throws(StoreError) {
        let shown = RetentionShown(answer, to: request, at: signer.sources.now())
        try await ledger.store.record(shown, in: request.app)
    }

    /// - Returns: the answer and its reservation; nil for the reservation if the answer is not an offer, or if an
    ///   earlier answer reserved the offer.
    private func choose(
        _ request: VerifiedRetentionRequest, _ admission: Admission, _ claim: RetentionAnswers.Claim,
        _ reservations: inout Reservations
    ) async throws(Problem) -> (RetentionAnswer, ReservedOffer?) {
        guard ledger.store.fault?.kind != .unreachable else { throw .storeUnavailable }
        let (configured, now) = (request.configured, signer.sources.now())
        let remembered = try await remembered(request, at: now)
        let loaded = try await decider.loader.load(
            subscription: request.originalTransactionID, in: request.app, configured, at: now)
        guard let customer = loaded else { return (RetentionAnswer(without: .unknownCustomer, request), nil) }
        if let remembered, let answer = try await repeated(remembered, request, customer, claim, admission) {
            return (answer, nil)
        }
        let decision = configured.rules.decideRetention(customer.facts, request.view, at: now)
        signer.metrics.decided(decision.offers, of: request.app)
        let plans = plans(for: decision, request, admission)
        let digest = admission.policy.catalogue?.digest ?? []
        let heldOut = [HeldOutPlan](decision.offers) { decision in
            plans.contains { $0.plan.terms === decision.offer }
        } isSignable: { decision in
            canSign(decision.offer, request, admission)
        }
        guard !plans.isEmpty else {
            guard claim.isOpen() else { throw .retentionMessageUnavailable }
            try await ledger.recordHeldOut(heldOut, for: customer, rules: digest, at: now)
            return (RetentionAnswer(decision.withoutOffers, .rules), nil)
        }
        guard claim.isOpen() else { throw .retentionMessageUnavailable }
        let outcome = try await ledger.reserve(
            plans, heldOut: heldOut, for: customer, answering: request.requestIdentifier, rules: digest,
            at: plans[0].plan.at, &reservations)
        switch outcome {
        case .refused: return (RetentionAnswer(decision.withoutOffers, .rules), nil)
        case .known(let offer):
            // Another process answered this request in the meantime.
            return (
                try await repeated(offer, request, customer, claim, admission)
                    ?? RetentionAnswer(without: .signing, request), nil
            )
        case .reserved(let reserved, let plan):
            guard claim.isOpen() else { throw .retentionMessageUnavailable }
            var answer = try await signed(reserved, plan.form.messageIdentifier, for: customer, claim, admission)
            answer.caseNumber = plan.caseNumber
            return (answer, reserved)
        }
    }

    /// Returns the offer that an earlier request with the same identifier reserved.
    private func remembered(
        _ request: VerifiedRetentionRequest, at now: Timestamp
    ) async throws(Problem) -> RememberedRetentionOffer? {
        guard request.configured.rules.offersRetention else { return nil }
        do throws(StoreError) {
            return try await ledger.store.retentionOffer(for: request.requestIdentifier, in: request.app, at: now)
        } catch { throw Problem(error) }
    }

    /// Returns the earlier answer to a repeated request.
    /// - Returns: nil if the configuration no longer has the offer.
    private func repeated(
        _ remembered: RememberedRetentionOffer, _ request: VerifiedRetentionRequest, _ customer: EvaluatedCustomer,
        _ claim: RetentionAnswers.Claim, _ admission: Admission
    ) async throws(Problem) -> RetentionAnswer? {
        let offer = RetentionCase.Offer(
            productID: remembered.productID, offerID: remembered.offerID, form: remembered.form)
        let now = signer.sources.now()
        guard let terms = request.configured.rules.retentionTerms(of: offer, customer.facts, at: now) else {
            return nil
        }
        let reserved = try ledger.reserved(
            remembered, terms, boundTo: request.originalTransactionID, for: customer,
            rules: admission.policy.catalogue?.digest ?? [])
        return try await signed(reserved, remembered.messageIdentifier, for: customer, claim, admission)
    }

    /// Signs a reserved offer and records its signature in the audit trail, so that the answer can be given.
    private func signed(
        _ reserved: ReservedOffer, _ messageIdentifier: UUIDText, for customer: EvaluatedCustomer,
        _ claim: RetentionAnswers.Claim, _ admission: Admission
    ) async throws(Problem) -> RetentionAnswer {
        var admission = admission
        admission.hasOwnLane = true
        let offer = try await signer.whereKeySigns(
            for: reserved.item.app, admission, isWanted: { claim.isOpen() }
        ) { [admission] () throws(Problem) in
            try signer.sign(reserved, for: customer, jws: .notWanted, admission)
        }
        // The audit trail lists no offer that the customer cannot get.
        guard claim.isOpen() else { throw .retentionMessageUnavailable }
        try await signer.record(offer.entries(for: admission))
        return RetentionAnswer(
            offer: offer.retentionBody(messageIdentifier: messageIdentifier),
            RetentionAnswer.Shown(
                messageIdentifier: messageIdentifier, productID: reserved.plan.terms.productID,
                offerID: reserved.plan.terms.offerID),
            rule: offer.decision?.rule)
    }

    /// Returns the signatures to reserve. An offer that cannot be signed now is left out, like a refused one.
    private func plans(
        for decision: RetentionDecision, _ request: VerifiedRetentionRequest, _ admission: Admission
    ) -> [RetentionPlan] {
        let rules = request.configured.rules
        return decision.choices.compactMap { choice in
            guard case .promotionalOffer(let terms, let form) = choice.content,
                let time = try? signer.timestamp(),
                canSign(form, request.app, rules, admission),
                (try? signer.requireSignable(terms.item(of: request.app.bundleID), admission)) != nil
            else { return nil }
            let places = decision.offers.first { $0.offer === terms }?.places ?? []
            let plan = decider.plan(
                terms, places, v1: form == .v1, boundTo: form == .v2 ? request.originalTransactionID : nil, rules,
                at: time)
            return RetentionPlan(
                plan: plan, caseNumber: choice.caseNumber,
                form: RetentionReservation.Form(signature: form, messageIdentifier: choice.messageIdentifier))
        }
    }

    /// Returns true if the offer of a case could be signed.
    private func canSign(
        _ offer: OfferTerms, _ request: VerifiedRetentionRequest, _ admission: Admission
    ) -> Bool {
        let form = request.configured.rules.retention.lazy.compactMap { retentionCase -> OfferSignatureForm? in
            guard case .promotionalOffer(let shown) = retentionCase.content else { return nil }
            return shown.productID == offer.productID && shown.offerID == offer.offerID ? shown.form : nil
        }.first
        guard let form, canSign(form, request.app, request.configured.rules, admission),
            (try? signer.timestamp()) != nil
        else { return false }
        return (try? signer.requireSignable(offer.item(of: request.app.bundleID), admission)) != nil
    }

    private func canSign(
        _ form: OfferSignatureForm, _ app: AppScope, _ rules: AppRules, _ admission: Admission
    ) -> Bool {
        switch form {
        // V1 names no environment, so a signature for the sandbox would also count in production.
        case .v1: return app.environment == .production || rules.allowsSandboxV1
        case .v2:
            guard admission.policy.issuerIDs[app.bundleID] == nil else { return true }
            signer.warnOfMissingIssuerID(of: app.bundleID, admission.context)
            return false
        }
    }
}

extension RetentionDecision {
    /// The choice if no offer is possible; nil if there is none.
    fileprivate var withoutOffers: Choice? {
        choices.last.flatMap { if case .promotionalOffer = $0.content { nil } else { $0 } }
    }
}
