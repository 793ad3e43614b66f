import OfferAudit
import OfferConfiguration
import OfferCore
import OfferEligibility
import OfferHTTP
import SubscriberStore

extension OfferSigner {
    /// Decides by the app's rule whether a customer gets an introductory offer.
    ///
    /// A clear yes and a clear no are signed. If the facts are unknown, nothing is signed: the app then passes no JWS,
    /// and the App Store applies its own rule.
    func answerIntroductoryOffer(
        _ offer: IntroductoryOfferRequest, by rule: Rule, _ body: ProofBody, _ admission: Admission
    ) async throws(Problem) -> HTTPResponse {
        let customer = offer.transactionID.text.utf8
        let (factsDigest, isAllowed, verified): ([UInt8], Bool, VerifiedProofs?)
        do throws(Problem) {
            try requireApp(of: offer.item, admission)
            // Before the store and the App Store are queried.
            try countCustomer(of: offer, admission)
            (factsDigest, isAllowed, verified) = try await decide(offer, by: rule, body, admission)
        } catch {
            noteRefusal(error, of: .introductoryOfferJWS, offer.item, customer: customer, admission)
            throw error
        }
        let jws = try signCountedIntroductoryOffer(offer, allowing: isAllowed, admission)
        let decision = SignedDecision(
            rule: rule.name, rulesDigest: admission.policy.catalogue?.digest ?? [], factsDigest: factsDigest)
        let commit = try commit([jws.entry(for: admission, decision)])
        guard await commit?.isDurable() ?? true else { throw .auditUnavailable }
        let shown = body.wantsVerifiedProofs ? verified : nil
        return HTTPResponse(body: offer.body(jws, allowing: isAllowed, showing: shown))
    }

    /// - Returns: the digest of the facts, whether the customer may have the offer, and what the proofs show.
    private func decide(
        _ offer: IntroductoryOfferRequest, by rule: Rule, _ body: ProofBody, _ admission: Admission
    ) async throws(Problem) -> ([UInt8], Bool, VerifiedProofs?) {
        guard let app = admission.policy.catalogue?.apps[offer.bundleID] else { throw .offerNotServed }
        let verified: VerifiedProofs?
        if let proofs = body.proofs {
            verified = try self.proofs.verify(proofs, of: offer.bundleID, in: admission.policy.catalogue)
        } else {
            verified = nil
        }
        let subject = DecisionSubject(
            offer.bundleID, boundTo: offer.transactionID, proofs: verified,
            asking: DecisionSubject.Asking(admission.principal))
        let found = try await CustomerGathering(store: store, refresher: refresher)
            .gather(subject, app, at: sources.now()) { facts in
                app.rules.introductoryReasons(facts, of: offer.productID, by: rule, at: sources.now())
                    .contains(where: \.needsHistory)
            }
        _ = try await OfferLedger(store: store, metrics: metrics).ask(
            about: [], for: found, reserving: .nothing, rules: [], at: sources.now())
        let reasons = app.rules.introductoryReasons(
            found.facts, of: offer.productID, by: rule, at: sources.now())
        metrics.decided(offer.productID, by: rule, reasons.codes, of: found.app)
        guard !reasons.contains(where: { $0.code == .unknown }) else {
            throw .notEligible(reasons, showsDetails: admission.principal.showsDetails)
        }
        return (try found.digest(), reasons.isEmpty, verified)
    }
}
