import OfferConfiguration
import OfferCore
import OfferEligibility
import OfferHTTP
import SubscriberStore

extension OfferSigner {
    /// `POST /v1/decisions`: the offers that a customer may have now, with the best of them signed.
    func answerDecisions(
        _ request: HTTPRequest, _ admission: Admission
    ) async throws(Problem) -> HTTPResponse {
        try requireReady()
        let body = try ProofBody(admission.members(of: request))
        let decision = try DecisionRequest(body.rest, user: admission.principal.customer)
        let item = CatalogueItem(app: decision.bundleID)
        do throws(Problem) {
            try requireApp(of: item, admission)
            try countCustomer(decision.customer, of: decision.bundleID, decision.transactionID, admission)
            let verified: VerifiedProofs?
            if let proofs = body.proofs {
                verified = try self.proofs.verify(proofs, of: decision.bundleID, in: admission.policy.catalogue)
            } else {
                verified = nil
            }
            let subject = DecisionSubject(
                decision.bundleID, decision.customer, transactionID: decision.transactionID,
                environment: decision.environment, proofs: verified,
                asking: DecisionSubject.Asking(admission.principal))
            let outcome = try await decide(
                subject, decision.customer, about: .products(decision.productIDs),
                signing: decision.signing.reserving, wantsJWS: true, admission)
            let shown = body.wantsVerifiedProofs ? verified : nil
            return try await respond(
                with: outcome.body(
                    showsDetails: admission.principal.showsDetails, showing: shown,
                    naming: admission.principal.hashesUsernames ? decision.customer : nil),
                to: outcome.eligible.compactMap(\.signed), admission)
        } catch {
            noteRefusal(error, of: .promotionalOffer, item, customer: decision.customer.utf8, admission)
            throw error
        }
    }
}

extension DecisionRequest.Signing {
    fileprivate var reserving: LedgerRequest.Reserving {
        switch self {
        case .best: .first
        case .all: .all
        case .none: .nothing
        }
    }
}
