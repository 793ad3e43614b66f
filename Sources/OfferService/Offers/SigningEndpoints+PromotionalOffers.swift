import AppStoreData
import Logging
import OfferConfiguration
import OfferCore
import OfferEligibility
import OfferHTTP
import SubscriberStore

extension SigningEndpoints {
    /// `POST /v1/promotional-offers`: one offer, or a list of offers that share one admission.
    ///
    /// Proofs are verified first, on the asynchronous lane, and offers with a rule are decided there. Reading a large
    /// body takes a few milliseconds, so that happens there too.
    func answerPromotionalOffers(_ request: HTTPRequest, _ admission: Admission) throws(Problem) -> Endpoint.Lane {
        try signer.requireReady()
        guard request.body.count <= HTTPRequest.maximumBodySize else {
            return .later { () async throws(Problem) in
                let body = try ProofBody(admission.members(of: request))
                return try await self.answer(body, OfferList(body.rest, admission.principal), admission)
            }
        }
        let body = try ProofBody(admission.members(of: request))
        let list = try OfferList(body.rest, admission.principal)
        guard body.proofs == nil, !list.requests.contains(where: { admission.policy.terms(of: $0) != nil }) else {
            return .later { () async throws(Problem) in try await self.answer(body, list, admission) }
        }
        if admission.policy.hasKeysWithThreads,
            list.requests.contains(where: { signer.needsThreads(for: $0.appBundleID, admission) })
        {
            return onThreads(admission) { admission async throws(Problem) in
                try count(list, admission)
                let results = await signWithoutRuleOnThreads(list, admission).compactMap(\.self)
                let signed = try signedOffers(of: list, results, admission)
                return (list.response(results), signed.flatMap { $0.offer.entries(for: admission) })
            }
        }
        try count(list, admission)
        let results = signWithoutRule(list, admission).compactMap(\.self)
        let signed = try signedOffers(of: list, results, admission)
        return .now(
            try answer(list.response(results), after: signed.flatMap { $0.offer.entries(for: admission) }))
    }

    /// Answers a request with proofs, offers with a rule, or a large body. Runs on the asynchronous lane.
    private func answer(
        _ body: ProofBody, _ list: OfferList, _ admission: Admission
    ) async throws(Problem) -> HTTPResponse {
        // The checks are repeated, because the request may have waited for a thread.
        try signer.requireReady()
        let admission = signer.excludingFaultyKeys(from: admission)
        let verified = try verifiedProofs(of: body, list, admission)
        if let verified, list.requests.contains(where: { admission.policy.terms(of: $0) == nil }) {
            await decider.remember(verified, admission.policy)
        }
        try count(list, admission)
        return try await decider.ledger.withReservations { reservations async throws(Problem) in
            let plain = await signWithoutRuleOnThreads(list, admission)
            let byRule = await signByRule(
                list.items.indices.filter { plain[$0] == nil }.compactMap { try? list.items[$0].get() },
                proofs: verified, admission, &reservations)
            var decided = byRule[...]
            let results = plain.compactMap { $0 ?? decided.popFirst() }
            let signed = try signedOffers(of: list, results, admission)
            return try await respond(
                with: list.response(results, showing: body.wantsVerifiedProofs ? verified : nil), to: signed, admission,
                &reservations)
        }
    }

    /// Counts the offers of a list against the principal.
    private func count(_ list: OfferList, _ admission: Admission) throws(Problem) {
        guard list.isList else { return }
        try limits.countList(
            of: list.items.count, admission.principal, under: admission.policy.limits, admission.context)
    }

    /// Signs the offers without a rule.
    /// - Returns: a result for each offer, in order; nil for an offer with a rule.
    private func signWithoutRule(_ list: OfferList, _ admission: Admission) -> [Result<DecidedOffer, Problem>?] {
        var admission = admission
        return list.items.map { item in
            do throws(Problem) {
                let offer = try item.get()
                guard admission.policy.terms(of: offer) == nil else { return nil }
                return .success(DecidedOffer(try signWithoutRule(offer, admission), nil))
            } catch {
                // A key that made a bad signature must not sign the rest of the list.
                admission = signer.excludingFaultyKeys(from: admission)
                return .failure(error)
            }
        }
    }

    /// Decides about offers with a rule, and signs those that are allowed. Each customer is loaded once.
    /// - Parameter proofs: proofs for the app of the offers.
    /// - Returns: a result for each offer, in order.
    func signByRule(
        _ offers: [OfferRequest], proofs: VerifiedProofs?, _ admission: Admission, _ reservations: inout Reservations
    ) async -> [Result<DecidedOffer, Problem>] {
        var results: [Result<DecidedOffer, Problem>?] = offers.map { offer in
            do throws(Problem) {
                try check(offer, admission)
                return nil
            } catch { return .failure(error) }
        }
        let customers = Dictionary(grouping: offers.indices.filter { results[$0] == nil }) { offers[$0].customerName }
        for places in customers.values.sorted(by: { $0[0] < $1[0] }) {
            // A key that made a bad signature must not sign for the next customer.
            let decided = await signByRule(
                ofOneCustomer: places.map { offers[$0] }, proofs: proofs, signer.excludingFaultyKeys(from: admission),
                &reservations)
            for (place, result) in zip(places, decided) { results[place] = result }
        }
        return zip(offers, results).map { offer, result in
            let result = result ?? .failure(.offerNotServed)
            if case .failure(let problem) = result { noteRefusal(problem, of: offer, admission) }
            return result
        }
    }

    private func signByRule(
        ofOneCustomer offers: [OfferRequest], proofs: VerifiedProofs?, _ admission: Admission,
        _ reservations: inout Reservations
    ) async -> [Result<DecidedOffer, Problem>] {
        do throws(Problem) {
            let customer = NamedCustomer(
                offers[0].customerName, proofs: proofs,
                unprovenRefresh: NamedCustomer.UnprovenRefresh(admission.principal))
            let outcome = try await decider.decide(
                customer, about: .offers(offers.compactMap { admission.policy.terms(of: $0) }), signing: .all,
                wantsJWS: offers[0].wantsJWS, admission, &reservations)
            return zip(offers, outcome.offers).map { offer, result in
                switch result {
                case .signed(_, let signed): .success(signed)
                case .failed(_, let problem): .failure(problem)
                case .refused(let decision):
                    .failure(.notEligible(decision.reasons, showsDetails: admission.principal.showsDetails))
                case .eligible(_, let gaps):
                    .failure(Self.unsignable(gaps, outcome.customer, offer, admission))
                }
            }
        } catch { return offers.map { _ in .failure(error) } }
    }

    /// Returns the reason an eligible offer cannot be signed: no issuer ID, proofs of another customer, or the sandbox.
    /// A V1 signature names no environment, so it would also count in production.
    private static func unsignable(
        _ gaps: OfferJWS.Gaps, _ customer: EvaluatedCustomer, _ offer: OfferRequest, _ admission: Admission
    ) -> Problem {
        guard !offer.wantsJWS || !gaps.contains(.issuerID) else { return .issuerIDMissing }
        guard customer.mayBeNamedInV1 else { return .anotherCustomersProof }
        return .notEligible(
            [
                DecisionReason(
                    .environment, fact: "environment", found: .text(customer.app.environment.rawValue),
                    required: .text("Production"))
            ], showsDetails: admission.principal.showsDetails)
    }

    /// Returns the signed offers of a list, and counts and logs the refused ones.
    /// - Throws: the problem, if the request is for a single offer.
    private func signedOffers(
        of list: OfferList, _ results: [Result<DecidedOffer, Problem>], _ admission: Admission
    ) throws(Problem) -> [DecidedOffer] {
        var signed: [DecidedOffer] = []
        for result in results {
            do throws(Problem) { signed.append(try result.get()) } catch {
                guard list.isList else { throw error }
                signer.metrics.refused(error.code)
                log.debug(
                    "offer in list refused",
                    metadata: admission.context.metadata(["code": "\(error.code.rawValue)"]))
            }
        }
        return signed
    }

    /// - Returns: nil if there are no proofs, or if their app is not served, so that every offer is refused.
    private func verifiedProofs(
        of body: ProofBody, _ list: OfferList, _ admission: Admission
    ) throws(Problem) -> VerifiedProofs? {
        guard body.proofs != nil else { return nil }
        let apps = Set(list.requests.map(\.appBundleID))
        guard apps.count <= 1 else { throw .proofsOfSeveralApps }
        guard let app = apps.first else { throw .proofRefused("proofs", DataRefusal(.noApp)) }
        guard admission.mayUse(app), admission.policy.catalogue.map({ $0.apps[app] != nil }) ?? true else { return nil }
        do throws(Problem) { return try verifiedProofs(of: body, app, admission) } catch {
            for offer in list.requests { noteRefusal(error, of: offer, admission) }
            throw error
        }
    }
}

extension OfferRequest {
    fileprivate var customerName: NamedCustomer.Name {
        NamedCustomer.Name(
            bundleID: appBundleID, identity: .account(customer, claiming: transactionID), environment: environment,
            placement: placement, link: link)
    }
}
