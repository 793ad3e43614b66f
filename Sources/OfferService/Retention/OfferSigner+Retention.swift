import Logging
import OfferAudit
import OfferConfiguration
import OfferCore
import OfferEligibility
import OfferHTTP
import OfferTelemetry
import SubscriberStore
import SubscriberSync

/// The answer to a request for a retention message, and its reservation.
struct RetentionOutcome: Sendable {
    let answer: RetentionAnswer
    /// nil if the answer reserves nothing, or if an earlier one for the same request has reserved it.
    var reserved: ReservedOffer?
}

extension OfferSigner {
    /// Chooses the message for a customer who is about to cancel, and signs it if it is an offer.
    ///
    /// ```
    /// store ─▶ facts ─▶ decide ─▶ reserve ─▶ sign ─▶ verify ─▶ audit
    /// ```
    /// - Parameter isWanted: returns true while the answer can still be given. Otherwise, nothing is signed.
    func answerRetention(
        _ question: RetentionQuestion, _ admission: Admission, isWanted: @Sendable () -> Bool
    ) async -> RetentionOutcome {
        do throws(Problem) {
            guard store.fault?.kind != .unreachable else { throw .storeUnavailable }
            guard let (found, remembered) = try await retentionCustomer(question) else {
                return RetentionOutcome(answer: RetentionAnswer(without: .unknownCustomer, question))
            }
            if let remembered, let outcome = try await answer(with: remembered, question, found, admission) {
                return outcome
            }
            return try await decide(question, found, admission, isWanted)
        } catch {
            let reason: RetentionAnswer.Reason = error.code == .storeUnavailable ? .store : .signing
            return RetentionOutcome(answer: RetentionAnswer(without: reason, question))
        }
    }

    func withdraw(_ reserved: ReservedOffer?) async {
        if let reserved { await OfferLedger(store: store, metrics: metrics).withdraw([reserved]) }
    }

    /// Loads the facts about the customer. If there are none, or they are too old, a refresh starts in the background.
    /// - Returns: nil for a customer whom the store does not know.
    private func retentionCustomer(
        _ question: RetentionQuestion
    ) async throws(Problem) -> (customer: RetentionCustomer, remembered: RememberedRetentionOffer?)? {
        let (original, now) = (question.originalTransactionID, sources.now())
        let stored: StoredCustomer?
        var remembered: RememberedRetentionOffer?
        do throws(StoreError) {
            if question.configured.rules.offersRetention {
                remembered = try await store.read { store throws(StoreError) in
                    try await store.retentionOffer(for: question.requestIdentifier, in: question.app, at: now)
                }
            }
            stored = try await store.read { store throws(StoreError) in
                try await store.customers(
                    known: .originalTransactionID(original), bundleID: question.app.bundleID,
                    environment: question.app.environment)
            }.first { $0.app == question.app }
        } catch { throw Problem(error) }
        guard let stored, stored.facts.contains(where: { $0.originalTransactionID == original }) else {
            askLater(about: original, in: question.app)
            return nil
        }
        let stale = stored.staleSubscriptions(under: question.configured.freshness, at: now).first
        if let stale { askLater(about: stale, in: question.app) }
        return (try RetentionCustomer(question, stored, isStale: stale != nil, at: now), remembered)
    }

    private func askLater(about id: TransactionID, in app: AppScope) {
        if let refresher, let question = CustomerQuestion(id, in: app) { refresher.refreshLater(question) }
    }

    private func decide(
        _ question: RetentionQuestion, _ customer: RetentionCustomer, _ admission: Admission,
        _ isWanted: @Sendable () -> Bool
    ) async throws(Problem) -> RetentionOutcome {
        let decision = question.configured.rules.decideRetention(
            customer.found.facts, question.view, at: sources.now())
        metrics.decided(decision.offers, of: question.app)
        let plans = plans(for: decision, question, admission)
        guard !plans.isEmpty else { return RetentionOutcome(answer: RetentionAnswer(decision.withoutOffers, .rules)) }
        guard isWanted() else { return RetentionOutcome(answer: RetentionAnswer(without: .deadline, question)) }
        let ledger = OfferLedger(store: store, metrics: metrics)
        let reservation = try await ledger.reserve(
            plans, for: customer.found, answering: question.requestIdentifier,
            rules: admission.policy.catalogue?.digest ?? [], at: plans[0].plan.at)
        switch reservation {
        case .refused: return RetentionOutcome(answer: RetentionAnswer(decision.withoutOffers, .rules))
        case .known(let offer):
            // Another process has answered this request in the meantime.
            return try await answer(with: offer, question, customer, admission)
                ?? RetentionOutcome(answer: RetentionAnswer(without: .signing, question))
        case .reserved(let reserved, let messageIdentifier):
            do throws(Problem) {
                guard isWanted() else { throw .retentionMessageUnavailable }
                let signed = DecidedOffer(try sign(reserved, for: customer, admission), reserved)
                return try await give(signed, messageIdentifier, reserved: reserved, admission)
            } catch {
                await ledger.withdraw([reserved])
                throw error
            }
        }
    }

    /// Repeats the answer to a repeated request.
    /// - Returns: nil if the configuration no longer has the offer.
    private func answer(
        with remembered: RememberedRetentionOffer, _ question: RetentionQuestion, _ customer: RetentionCustomer,
        _ admission: Admission
    ) async throws(Problem) -> RetentionOutcome? {
        let offer = RetentionCase.Offer(
            productID: remembered.productID, offerID: remembered.offerID, form: remembered.form)
        guard let terms = question.configured.rules.retentionTerms(of: offer) else { return nil }
        let reserved = try OfferLedger(store: store, metrics: metrics).reserved(
            remembered, terms, boundTo: question.originalTransactionID, for: customer.found,
            rules: admission.policy.catalogue?.digest ?? [])
        let signed = try sign(reserved, for: customer, admission)
        return try await give(DecidedOffer(signed, nil), remembered.messageIdentifier, reserved: nil, admission)
    }

    private func sign(
        _ reserved: ReservedOffer, for customer: RetentionCustomer, _ admission: Admission
    ) throws(Problem) -> SignedOffer {
        try sign(
            reserved, for: customer.signed, customer.found, wantsJWS: reserved.plan.jws != nil, admission)
    }

    /// Records the signature in the audit trail, so that the answer can be given.
    private func give(
        _ signed: DecidedOffer, _ messageIdentifier: UUIDText, reserved: ReservedOffer?, _ admission: Admission
    ) async throws(Problem) -> RetentionOutcome {
        let response = try await respond(
            with: signed.offer.retentionBody(messageIdentifier: messageIdentifier), to: [signed], admission)
        return RetentionOutcome(
            answer: RetentionAnswer(offer: response.body, rule: signed.offer.decision?.rule), reserved: reserved)
    }

    /// The signatures to reserve. An offer that cannot be signed now is left out, like a refused one.
    private func plans(
        for decision: RetentionDecision, _ question: RetentionQuestion, _ admission: Admission
    ) -> [RetentionPlan] {
        let rules = question.configured.rules
        return decision.choices.compactMap { choice in
            guard case .promotionalOffer(let terms, let form) = choice.content,
                let time = try? timestamp(),
                canSign(form, question.app, rules, admission),
                (try? requireSignable(
                    CatalogueItem(app: question.app.bundleID, product: terms.productID, offer: terms.offerID),
                    admission)) != nil
            else { return nil }
            let plan = makePlan(
                terms, v1: form == .v1, boundTo: form == .v2 ? question.originalTransactionID : nil, rules, at: time)
            return RetentionPlan(
                plan: plan,
                form: RetentionReservation.Form(signature: form, messageIdentifier: choice.messageIdentifier))
        }
    }

    private func canSign(
        _ form: OfferSignatureForm, _ app: AppScope, _ rules: AppRules, _ admission: Admission
    ) -> Bool {
        switch form {
        // V1 names no environment, so a signature for the sandbox would also count in production.
        case .v1: return app.environment == .production || rules.allowsSandboxV1
        case .v2:
            guard admission.policy.issuerIDs[app.bundleID] == nil else { return true }
            missingIssuerWarning.warn(
                admission.context.metadata([
                    "app": "\(app.bundleID.text)", "hint": "set \(Settings.issuerID.variable)",
                ]))
            return false
        }
    }
}

extension RetentionDecision {
    /// The case that is shown if no offer is; nil if there is none.
    fileprivate var withoutOffers: Choice? {
        choices.last.flatMap { if case .promotionalOffer = $0.content { nil } else { $0 } }
    }
}
