import OfferCore
import OfferEligibility
import OfferHTTP
import SubscriberStore

extension SigningEndpoints {
    /// `POST /v1/decisions`: the offers that a customer may have now, with the best one signed by default.
    func answerDecisions(_ request: HTTPRequest, _ admission: Admission) throws(Problem) -> Endpoint.Lane {
        .later { () async throws(Problem) in try await answerDecision(request, admission) }
    }

    private func answerDecision(_ request: HTTPRequest, _ admission: Admission) async throws(Problem) -> HTTPResponse {
        try signer.requireReady()
        let body = try ProofBody(admission.members(of: request))
        let decision = try DecisionRequest(body.rest, user: admission.principal.customer)
        let item = CatalogueItem(app: decision.bundleID)
        do throws(Problem) {
            try signer.requireApp(of: item, admission)
            try countCustomer(decision.customer, of: decision.bundleID, decision.transactionID, admission)
            let proofs = try verifiedProofs(of: body, decision.bundleID, admission)
            let customer = NamedCustomer(
                decision.customerName, proofs: proofs,
                unprovenRefresh: NamedCustomer.UnprovenRefresh(admission.principal))
            return try await decider.ledger.withReservations { reservations async throws(Problem) in
                var outcome = try await decider.decide(
                    customer, about: .products(decision.productIDs), signing: decision.signing.reserving,
                    wantsJWS: true, admission, &reservations)
                if let failure = outcome.failure { throw failure }
                outcome.introductoryOffers = try await decider.introductoryOffers(
                    to: outcome.customer, customer, about: decision.productIDs, admission)
                return try await respond(
                    with: HTTPResponse(
                        body: outcome.body(
                            showsDetails: admission.principal.showsDetails,
                            showing: body.wantsVerifiedProofs ? proofs : nil,
                            naming: admission.principal.hashesUsernames ? decision.customer : nil)),
                    to: outcome.signed, admission, &reservations)
            }
        } catch {
            signer.noteRefusal(error, of: .promotionalOffer, item, customer: decision.customer.utf8, admission)
            throw error
        }
    }
}

extension DecisionRequest {
    fileprivate var customerName: NamedCustomer.Name {
        NamedCustomer.Name(
            bundleID: bundleID, identity: .account(customer, claiming: transactionID), environment: environment,
            placement: placement, link: link)
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
