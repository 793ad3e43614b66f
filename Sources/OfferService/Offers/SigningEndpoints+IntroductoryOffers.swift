import OfferAudit
import OfferConfiguration
import OfferCore
import OfferEligibility
import OfferHTTP

extension SigningEndpoints {
    /// `POST /v1/introductory-offers`. If the caller does not decide, the app's rule does.
    func answerIntroductoryOffer(_ request: HTTPRequest, _ admission: Admission) throws(Problem) -> Endpoint.Lane {
        try signer.requireReady()
        try refuseUsers(admission)
        let body = try ProofBody(admission.members(of: request))
        let offer = try IntroductoryOfferRequest(body.rest)
        guard let isAllowed = offer.allowIntroductoryOffer else {
            guard let rule = admission.policy.catalogue?.apps[offer.bundleID]?.rules.introductoryOffers else {
                throw .missingField("allowIntroductoryOffer")
            }
            return .later { () async throws(Problem) in try await self.answer(offer, by: rule, body, admission) }
        }
        guard body.proofs == nil else { throw .conflictingFields("proofs", "allowIntroductoryOffer") }
        guard !signer.needsThreads(for: offer.bundleID, admission) else {
            return onThreads(admission) { admission async throws(Problem) in
                let jws = try await signOnThreads(offer, allowing: isAllowed, admission) { () throws(Problem) in
                    try countCustomer(of: offer, admission)
                }
                return (HTTPResponse(body: offer.body(jws, allowing: isAllowed)), [jws.entry(for: admission)])
            }
        }
        let jws = try signJWS(offer.appStoreRequest(allowing: isAllowed), of: offer.bundleID, admission) {
            () throws(Problem) in
            try countCustomer(of: offer, admission)
        }
        return .now(
            try answer(HTTPResponse(body: offer.body(jws, allowing: isAllowed)), after: [jws.entry(for: admission)]))
    }

    /// Answers by the app's rule.
    ///
    /// A definite yes or no is signed. If the facts are unknown, nothing is signed: the app then passes no JWS, and the
    /// App Store applies its own rule.
    private func answer(
        _ offer: IntroductoryOfferRequest, by rule: Rule, _ body: ProofBody, _ admission: Admission
    ) async throws(Problem) -> HTTPResponse {
        let proofs: VerifiedProofs?
        let (isAllowed, decision, exposures): (Bool, SignedDecision, ExposuresToRecord)
        do throws(Problem) {
            try signer.requireApp(of: offer.item, admission)
            // The request is counted before the store and the App Store are queried.
            try countCustomer(of: offer, admission)
            proofs = try verifiedProofs(of: body, offer.bundleID, admission)
            let customer = NamedCustomer(
                offer.customerName, proofs: proofs,
                unprovenRefresh: NamedCustomer.UnprovenRefresh(admission.principal))
            (isAllowed, decision, exposures) = try await decider.decideIntroductoryOffer(
                of: offer.productID, by: rule, customer, admission)
        } catch {
            signer.noteRefusal(
                error, of: .introductoryOfferJWS, offer.item, customer: offer.transactionID.text.utf8, admission)
            throw error
        }
        // The request is already counted.
        let jws = try await signOnThreads(offer, allowing: isAllowed, admission) {}
        try await signer.record([jws.entry(for: admission, decision)])
        try await decider.ledger.record(exposures)
        return HTTPResponse(
            body: offer.body(jws, allowing: isAllowed, showing: body.wantsVerifiedProofs ? proofs : nil))
    }

    private func signOnThreads(
        _ offer: IntroductoryOfferRequest, allowing isAllowed: Bool, _ admission: Admission,
        countCustomer: () throws(Problem) -> Void
    ) async throws(Problem) -> CompactJWS {
        try await signJWSOnThreads(
            offer.appStoreRequest(allowing: isAllowed), of: offer.bundleID, admission, countCustomer: countCustomer)
    }

    private func countCustomer(of offer: IntroductoryOfferRequest, _ admission: Admission) throws(Problem) {
        try limits.countCustomer(
            of: offer.transactionID, of: offer.bundleID, under: admission.policy.limits, admission.context)
    }
}

extension IntroductoryOfferRequest {
    fileprivate var customerName: NamedCustomer.Name {
        NamedCustomer.Name(bundleID: bundleID, identity: .boundTransaction(transactionID), environment: nil)
    }
}
