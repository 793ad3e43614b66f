import Logging
import OfferAudit
import OfferConfiguration
import OfferCore
import OfferEligibility
import SubscriberStore
import SubscriberSync

/// The decision path. It decides which offers a customer may have, and signs the requested ones.
///
/// ```
/// load ─▶ decide ─▶ reserve ─▶ sign ─▶ verify      (then audit ─▶ answer)
/// ```
struct OfferDecider: Sendable {
    let signer: OfferSigner
    let loader: CustomerLoader
    let ledger: OfferLedger
    let links: LinkDesk

    init(signer: OfferSigner, store: CurrentStore, refresher: RefreshQueue?, linkKey: LinkKey?, log: Logger) {
        self.signer = signer
        links = LinkDesk(store: store, key: linkKey, metrics: signer.metrics)
        loader = CustomerLoader(store: store, refresher: refresher)
        ledger = OfferLedger(store: store, metrics: signer.metrics, log: log)
    }

    private var now: Timestamp { signer.sources.now() }

    /// Decides about offers with rules, and signs the allowed ones that `signing` selects. A failure to sign one offer
    /// does not affect the others.
    /// - Parameters:
    ///   - offers: the offers to decide about, all for the customer's app.
    ///   - wantsJWS: true if a JWS accompanies the signature.
    func decide(
        _ named: NamedCustomer, about offers: OfferSelection, signing: LedgerRequest.Reserving, wantsJWS: Bool,
        _ admission: Admission, _ reservations: inout Reservations
    ) async throws(Problem) -> DecisionOutcome {
        let app = try admission.app(named.bundleID)
        var named = named
        if let link = named.name.link {
            named.shownLink = try await links.read(link, of: named.bundleID, app, at: now)
        }
        let loaded = try await loader.load(named, app, at: now) { facts in
            offers.decide(by: app.rules, facts, at: now).contains(where: \.needsHistory)
        }
        let customer = try await usingLink(named.shownLink, loaded, named, app)
        let decisions = offers.decide(by: app.rules, customer.facts, at: now)
        signer.metrics.decided(decisions, of: customer.app)
        let time = signing == .nothing ? now : try signer.timestamp()
        var plans: [SignaturePlan] = []
        for decision in decisions where decision.isEligible {
            if signing != .nothing {
                try signer.requireSignable(decision.offer.item(of: named.bundleID), admission)
            }
            plans.append(
                plan(decision, for: customer, app.rules, wantsJWS: wantsJWS, at: time, admission.policy))
        }
        let heldOut = [HeldOutPlan](decisions) { decision in
            signing != .nothing
                && (try? signer.requireSignable(decision.offer.item(of: named.bundleID), admission)) != nil
                && !plan(decision, for: customer, app.rules, wantsJWS: wantsJWS, at: time, admission.policy).nonces
                    .isEmpty
        }
        var reserved = try await ledger.reserve(
            signing, of: plans, heldOut: heldOut, for: customer,
            rules: admission.policy.catalogue?.digest ?? [], at: time,
            under: signing == .nothing ? nil : admission.claimOfReservations(), &reservations)[...]
        var remaining = plans[...]
        var admission = signer.beginningToSign(admission)
        var outcomes: [DecisionOutcome.Offer] = []
        for decision in decisions {
            guard decision.isEligible, let plan = remaining.popFirst(), let answer = reserved.popFirst() else {
                outcomes.append(.refused(decision))
                continue
            }
            let gaps = customer.gaps(under: admission.policy)
            switch answer {
            case .allowed:
                outcomes.append(
                    .eligible(plan.terms, gaps: signing != .nothing && plan.nonces.isEmpty ? gaps : []))
            case .reserved(let offer):
                do throws(Problem) {
                    let current = admission
                    let signed = try await signer.whereKeySigns(for: named.bundleID, current) { () throws(Problem) in
                        try signer.sign(
                            offer, for: customer, jws: wantsJWS ? .missing(gaps) : .notWanted, current)
                    }
                    outcomes.append(.signed(plan.terms, DecidedOffer(signed, offer)))
                } catch {
                    // A key that made a bad signature must not sign the rest.
                    admission = signer.excludingFaultyKeys(from: admission)
                    outcomes.append(.failed(plan.terms, error))
                }
            case .refused(let codes):
                outcomes.append(.refused(OfferDecision(refusing: plan.terms, for: codes)))
            }
        }
        return DecisionOutcome(
            customer: customer, listing: app.listing, alternative: app.rules.alternative(for: customer.facts, at: now),
            offers: outcomes)
    }

    /// Uses the link that a request shows.
    /// - Returns: the customer, without the grant of a link that has become worthless.
    private func usingLink(
        _ shown: ShownLink?, _ customer: EvaluatedCustomer, _ named: NamedCustomer, _ app: Catalogue.App
    ) async throws(Problem) -> EvaluatedCustomer {
        guard let shown, let result = customer.link, try await !links.use(shown, result, at: now) else {
            return customer
        }
        var other = named
        other.shownLink = .refused(.unknown, campaign: result.campaign)
        return try await loader.load(other, app, at: now) { _ in false }
    }

    /// Decides by the app's rule whether a customer gets an introductory offer.
    /// - Returns: the answer, not yet signed, the rule and digests that it was derived from, and the exposures to record
    ///   once it is signed.
    func decideIntroductoryOffer(
        of productID: ProductID, by rule: Rule, _ named: NamedCustomer, _ admission: Admission
    ) async throws(Problem) -> (isAllowed: Bool, decision: SignedDecision, exposures: ExposuresToRecord) {
        let app = try admission.app(named.bundleID)
        let customer = try await loader.load(named, app, at: now) { facts in
            app.rules.introductoryReasons(facts, of: productID, by: rule, at: now).contains(where: \.needsHistory)
        }
        let time = now
        let digest = admission.policy.catalogue?.digest ?? []
        let new = NewExposures(customer: customer, channel: .decision, rulesDigest: digest, at: time)
        let exposure = app.rules.introductoryExposure(customer.facts, of: productID, by: rule, at: time)
        try await ledger.merge(customer, at: time)
        let reasons = app.rules.introductoryReasons(customer.facts, of: productID, by: rule, at: time)
        signer.metrics.decided(productID, by: rule, reasons.codes, of: customer.app)
        let isEligible = reasons.introductoryOffer
        guard isEligible != .unknown else {
            throw .notEligible(reasons, showsDetails: admission.principal.showsDetails)
        }
        let decision = SignedDecision(
            rule: rule.name, rulesDigest: digest, factsDigest: try customer.digest())
        let exposures =
            exposure.map { new.to(productID, nil, by: rule, $0.isOffered ? .offered : .heldOut, $0.places) } ?? []
        return (
            isEligible == .yes, decision, ExposuresToRecord(app: customer.app, exposures: exposures, at: time)
        )
    }

    /// Decides which introductory offers the customer of a decision would get, without a signature.
    func introductoryOffers(
        to customer: EvaluatedCustomer, _ named: NamedCustomer, about productIDs: Set<ProductID>?,
        _ admission: Admission
    ) async throws(Problem) -> [GroupIntroductoryOffer] {
        await loader.introductoryOffers(
            to: customer, named, about: productIDs, try admission.app(named.bundleID), at: now)
    }

    /// Merges the proofs of an offer without a rule into the store. Their facts rank equally with those of
    /// notifications.
    ///
    /// A customer whom the store does not know, or whose data is old, is refreshed in the background. The offer does
    /// not wait for the refresh, and is signed even if the store fails. After a failure, nothing waits for the store
    /// until it works again.
    func remember(_ proofs: VerifiedProofs, _ policy: Policy) async {
        guard let app = proofs.app else { return }
        await loader.refreshLater(proofs, of: app, policy.catalogue?.apps[app.bundleID], at: now)
        await ledger.merge(proofs, of: app, at: now)
    }

    // MARK: Plans

    private func plan(
        _ decision: OfferDecision, for customer: EvaluatedCustomer, _ rules: AppRules, wantsJWS: Bool,
        at time: Timestamp,
        _ policy: Policy
    ) -> SignaturePlan {
        // A V1 signature names no environment, so a signature for the sandbox would also count in production.
        let makesV1 =
            (customer.app.environment == .production || rules.allowsSandboxV1) && customer.mayBeNamedInV1
        let transactionID = wantsJWS && customer.gaps(under: policy).isEmpty ? customer.transactionID : nil
        return plan(
            decision.offer, decision.places, v1: makesV1, boundTo: transactionID, rules, at: time)
    }

    /// - Parameters:
    ///   - places: the customer's places in the samples of the rule.
    ///   - v1: true to make a V1 signature.
    ///   - transactionID: the transaction that a JWS is bound to; nil to make no JWS.
    func plan(
        _ terms: OfferTerms, _ places: [SamplePlace], v1: Bool, boundTo transactionID: TransactionID?,
        _ rules: AppRules, at time: Timestamp
    ) -> SignaturePlan {
        let makeNonce = signer.sources.makeNonce
        let jws = transactionID.map { SignaturePlan.JWS(nonce: makeNonce(), transactionID: $0) }
        let lifetimes =
            (v1 ? [Duration.milliseconds(Timestamp.signatureLifetimeMilliseconds)] : [])
            + (jws == nil ? [] : [rules.jwsLifetime])
        let validUntil = time + (lifetimes.max() ?? .zero)
        return SignaturePlan(
            terms: terms, places: places, v1: v1 ? makeNonce() : nil, jws: jws, at: time,
            expiresAt: validUntil + (loader.refresher == nil ? .zero : Authorisation.syncTime),
            validUntil: validUntil)
    }
}

extension EvaluatedCustomer {
    /// Returns the missing prerequisites for a JWS.
    func gaps(under policy: Policy) -> OfferJWS.Gaps {
        var gaps: OfferJWS.Gaps = policy.issuerIDs[app.bundleID] == nil ? .issuerID : []
        if transactionID == nil { gaps.insert(.transactionID) }
        return gaps
    }
}

/// The offers to decide about, all of one app.
enum OfferSelection {
    /// The given offers, in this order. An offer that occurs twice counts twice against its limits.
    case offers([OfferTerms])
    /// All offers of the given products, the best first; nil for all products.
    case products(Set<ProductID>?)

    fileprivate func decide(by rules: AppRules, _ facts: CustomerFacts, at now: Timestamp) -> [OfferDecision] {
        switch self {
        case .offers(let terms): terms.map { rules.decide(facts, about: $0, at: now) }
        case .products(let ids): rules.decide(facts, about: ids, at: now)
        }
    }
}
