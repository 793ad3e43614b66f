import OfferConfiguration
import OfferCore
import OfferEligibility
import OfferHTTP
import SubscriberStore

extension OfferSigner {
    /// Decides about offers with rules, and signs those that are allowed.
    ///
    /// ```
    /// proofs + store ─▶ facts ─▶ decide ─▶ reserve ─▶ sign ─▶ verify      (then audit ─▶ answer: ``respond(with:to:_:)``)
    /// ```
    /// - Parameters:
    ///   - customer: as it is signed.
    ///   - offers: of one app; nil for all.
    ///   - wantsJWS: whether a JWS accompanies the signature.
    func decide(
        _ subject: DecisionSubject, _ customer: Customer, about offers: DecisionScope,
        signing: LedgerRequest.Reserving, wantsJWS: Bool, _ admission: Admission
    ) async throws(Problem) -> DecisionOutcome {
        guard let app = admission.policy.catalogue?.apps[subject.bundleID] else {
            throw .appNotServed(because: "the app is not in the configuration file")
        }
        let gathering = CustomerGathering(store: store, refresher: refresher)
        let found = try await gathering.gather(subject, app, at: sources.now()) { facts in
            offers.decide(by: app.rules, facts, at: sources.now()).contains(where: \.needsHistory)
        }
        let decisions = offers.decide(by: app.rules, found.facts, at: sources.now())
        metrics.decided(decisions, of: found.app)
        let eligible = decisions.filter(\.isEligible)
        let time = signing == .nothing ? sources.now() : try timestamp()
        var plans: [SignaturePlan] = []
        for decision in eligible {
            if signing != .nothing { try requireSignable(decision.offer.item(of: subject.bundleID), admission) }
            plans.append(
                plan(decision.offer, for: found, customer, app.rules, wantsJWS: wantsJWS, at: time, admission.policy))
        }
        let ledger = OfferLedger(store: store, metrics: metrics)
        let answers = try await ledger.ask(
            about: plans, for: found, reserving: signing, rules: admission.policy.catalogue?.digest ?? [], at: time)
        return try await outcome(
            of: decisions, plans, answers, for: found, customer, signing: signing, wantsJWS: wantsJWS, ledger, admission
        )
    }

    /// Signs the reserved offers, and sorts the rest.
    private func outcome(
        of decisions: [OfferDecision], _ plans: [SignaturePlan], _ answers: [OfferLedger.Answer],
        for found: DecisionCustomer, _ customer: Customer, signing: LedgerRequest.Reserving, wantsJWS: Bool,
        _ ledger: OfferLedger, _ admission: Admission
    ) async throws(Problem) -> DecisionOutcome {
        let reserved = answers.compactMap { if case .reserved(let offer) = $0 { offer } else { nil } }
        var eligible: [DecisionOutcome.Eligible] = []
        var capped: [OfferDecision] = []
        do throws(Problem) {
            for (plan, answer) in zip(plans, answers) {
                switch answer {
                case .allowed:
                    let gaps = signing != .nothing && plan.nonces.isEmpty ? found.gaps(under: admission.policy) : []
                    eligible.append(DecisionOutcome.Eligible(terms: plan.terms, signed: nil, gaps: gaps))
                case .reserved(let offer):
                    let signed = DecidedOffer(
                        try sign(offer, for: customer, found, wantsJWS: wantsJWS, admission), offer)
                    eligible.append(DecisionOutcome.Eligible(terms: plan.terms, signed: signed, gaps: []))
                case .refused(let codes):
                    capped.append(OfferDecision(refusing: plan.terms, for: codes))
                }
            }
        } catch {
            await ledger.withdraw(reserved)
            throw error
        }
        let refused = decisions.compactMap { decision in
            decision.isEligible ? capped.first { $0.offer == decision.offer } : decision
        }
        return DecisionOutcome(customer: found, eligible: eligible, refused: refused)
    }

    /// Decides about one offer, and signs it.
    /// - Parameter proofs: of the offer's app.
    func signByRule(
        _ offer: OfferRequest, proofs: VerifiedProofs?, _ admission: Admission
    ) async throws(Problem) -> DecidedOffer {
        do throws(Problem) {
            // Check the app first. A request for an app that the caller may not sign for must not count against the customer.
            try requireApp(of: offer.item, admission)
            try countCustomer(of: offer, admission)
            let subject = DecisionSubject(
                offer.appBundleID, offer.customer, transactionID: offer.transactionID, environment: offer.environment,
                proofs: proofs, asking: DecisionSubject.Asking(admission.principal))
            let outcome = try await decide(
                subject, offer.customer, about: .offer(offer.productIdentifier, offer.offerID), signing: .all,
                wantsJWS: offer.wantsJWS, admission)
            if let refused = outcome.refused.first {
                throw .notEligible(refused.reasons, showsDetails: admission.principal.showsDetails)
            }
            guard let eligible = outcome.eligible.first else { throw .offerNotServed }
            guard let signed = eligible.signed else { throw Self.unsignable(eligible.gaps, outcome, offer, admission) }
            return signed
        } catch {
            noteRefusal(error, of: .promotionalOffer, offer.item, customer: offer.customer.utf8, admission)
            throw error
        }
    }

    /// The reason an offer that the customer may have cannot be signed: a signature that names no environment would
    /// count in production.
    private static func unsignable(
        _ gaps: OfferJWS.Gaps, _ outcome: DecisionOutcome, _ offer: OfferRequest, _ admission: Admission
    ) -> Problem {
        guard !offer.wantsJWS || !gaps.contains(.issuerID) else { return .issuerIDMissing }
        guard outcome.customer.mayNameInV1(offer.customer) else { return .anotherCustomersProof }
        let found = outcome.customer.app.environment.rawValue
        return .notEligible(
            [
                DecisionReason(
                    .environment, fact: "environment", found: .text(found), required: .text("Production"))
            ], showsDetails: admission.principal.showsDetails)
    }

    /// Sends an answer once the audit entries of its signatures are durable. Reservations for an answer that cannot be
    /// sent are withdrawn.
    func respond(
        with body: [UInt8], to offers: [DecidedOffer], _ admission: Admission
    ) async throws(Problem) -> HTTPResponse {
        do throws(Problem) {
            let commit = try commit(offers.flatMap { $0.offer.entries(for: admission) })
            guard await commit?.isDurable() ?? true else { throw .auditUnavailable }
            return HTTPResponse(body: body)
        } catch {
            await OfferLedger(store: store, metrics: metrics).withdraw(offers.compactMap(\.reserved))
            throw error
        }
    }

    private func plan(
        _ terms: OfferTerms, for found: DecisionCustomer, _ customer: Customer, _ rules: AppRules, wantsJWS: Bool,
        at time: Timestamp, _ policy: Policy
    ) -> SignaturePlan {
        // A V1 signature names no environment, so one for the sandbox would also count in production.
        let makesV1 =
            (found.app.environment == .production || rules.allowsSandboxV1) && found.mayNameInV1(customer)
        let transactionID = wantsJWS && found.gaps(under: policy).isEmpty ? found.transactionID : nil
        return makePlan(terms, v1: makesV1, boundTo: transactionID, rules, at: time)
    }

    /// - Parameters:
    ///   - v1: whether a V1 signature is made.
    ///   - transactionID: what a JWS is bound to; nil to make none.
    func makePlan(
        _ terms: OfferTerms, v1: Bool, boundTo transactionID: TransactionID?, _ rules: AppRules, at time: Timestamp
    ) -> SignaturePlan {
        let jws = transactionID.map { SignaturePlan.JWS(nonce: sources.makeNonce(), transactionID: $0) }
        let lifetimes =
            (v1 ? [Duration.milliseconds(Timestamp.signatureLifetimeMilliseconds)] : [])
            + (jws == nil ? [] : [rules.jwsLifetime])
        let validUntil = time + (lifetimes.max() ?? .zero)
        return SignaturePlan(
            terms: terms, v1: v1 ? sources.makeNonce() : nil, jws: jws, at: time,
            expiresAt: validUntil + (refresher == nil ? .zero : Authorisation.askingTime), validUntil: validUntil)
    }

    func sign(
        _ reserved: ReservedOffer, for customer: Customer, _ found: DecisionCustomer, wantsJWS: Bool,
        _ admission: Admission
    ) throws(Problem) -> SignedOffer {
        let right = try authorise(reserved, admission)
        let plan = reserved.plan
        var jws = wantsJWS ? OfferJWS.missing(found.gaps(under: admission.policy)) : .notWanted
        var (payload, signature): (OfferPayload, OfferSignature?)
        if let nonce = plan.v1 {
            (payload, signature) = try makeSignature(for: customer, right, nonce: nonce, at: plan.at, admission)
        } else {
            (payload, signature) = (right.payload(for: reserved, customer), nil)
        }
        if let planned = plan.jws {
            let request = AppStoreRequest.promotionalOffer(
                plan.terms.productID, plan.terms.offerID, planned.transactionID)
            jws = .made(try makeJWS(request, right, nonce: planned.nonce, at: plan.at, admission))
        }
        return SignedOffer(payload: payload, signature: signature, jws: jws, decision: reserved.decision)
    }
}

extension DecisionCustomer {
    /// The missing prerequisites for a JWS.
    fileprivate func gaps(under policy: Policy) -> OfferJWS.Gaps {
        var gaps: OfferJWS.Gaps = policy.issuerIDs[app.bundleID] == nil ? .issuerID : []
        if transactionID == nil { gaps.insert(.transactionID) }
        return gaps
    }
}

extension ReservedOffer {
    var item: CatalogueItem { plan.terms.item(of: app.bundleID) }
}

extension OfferTerms {
    fileprivate func item(of app: BundleID) -> CatalogueItem {
        CatalogueItem(app: app, product: productID, offer: offerID)
    }
}

extension Policy {
    /// - Returns: nil for an offer without a rule.
    func terms(of offer: OfferRequest) -> OfferTerms? {
        catalogue?.apps[offer.appBundleID]?.rules.terms(of: offer.productIdentifier, offer.offerID)
    }
}

extension Principal {
    /// True if the principal learns the reasons an offer is refused. An app does not: its customers could read them.
    var showsDetails: Bool { has(.customers) }
}

/// The offers of an app that a decision is about.
enum DecisionScope {
    case offer(ProductID, OfferID)
    /// All offers of some products; nil for those of all products.
    case products(Set<ProductID>?)

    /// - Returns: the best first.
    fileprivate func decide(by rules: AppRules, _ facts: CustomerFacts, at now: Timestamp) -> [OfferDecision] {
        switch self {
        case .offer(let productID, let offerID):
            rules.terms(of: productID, offerID).map { [rules.decide(facts, about: $0, at: now)] } ?? []
        case .products(let ids): rules.decide(facts, about: ids, at: now)
        }
    }
}
