import OfferAudit
import OfferCore
import OfferEligibility
import OfferHTTP

/// Signatures of keys that sign on threads of their own. They are made on the asynchronous lane, under a limit of their own, so
/// that a slow token leaves the lane to others.
extension SigningEndpoints {
    /// Returns the lane of a request whose key has threads.
    /// - Parameter sign: makes the response and its audit entries.
    func onThreads(
        _ admission: Admission,
        _ sign: @escaping @Sendable (Admission) async throws(Problem) -> (HTTPResponse, [AuditEntry])
    ) -> Endpoint.Lane {
        .later(limit: threadsLimit, readsStore: false) { () async throws(Problem) in
            // The checks are repeated, because the request may have waited.
            try signer.requireReady()
            var admission = signer.beginningToSign(signer.excludingFaultyKeys(from: admission))
            // A request with a key is in the lane of the requests with keys.
            admission.hasOwnLane = admission.claim == nil
            let (response, entries) = try await sign(admission)
            try await signer.record(entries)
            return response
        }
    }

    func signWithoutRuleOnThreads(_ offer: OfferRequest, _ admission: Admission) async throws(Problem) -> SignedOffer {
        do throws(Problem) {
            try check(offer, admission)
            return try await signer.whereKeySigns(for: offer.appBundleID, admission) { () throws(Problem) in
                try signer.sign(offer, admission)
            }
        } catch {
            noteRefusal(error, of: offer, admission)
            throw error
        }
    }

    /// Signs the offers of a list without a rule, some of which may have keys with threads.
    /// - Returns: a result for each offer, in order; nil for an offer with a rule.
    func signWithoutRuleOnThreads(
        _ list: OfferList, _ admission: Admission
    ) async -> [Result<DecidedOffer, Problem>?] {
        var admission = admission.signingDeadline == nil ? signer.beginningToSign(admission) : admission
        var results: [Result<DecidedOffer, Problem>?] = []
        for item in list.items {
            do throws(Problem) {
                let offer = try item.get()
                guard admission.policy.terms(of: offer) == nil else {
                    results.append(nil)
                    continue
                }
                results.append(.success(DecidedOffer(try await signWithoutRuleOnThreads(offer, admission), nil)))
            } catch {
                // A key that made a bad signature must not sign the rest of the list.
                admission = signer.excludingFaultyKeys(from: admission)
                results.append(.failure(error))
            }
        }
        return results
    }

    /// Signs a request for which only a JWS is made; see ``signJWS(_:of:_:countCustomer:)``.
    func signJWSOnThreads(
        _ request: AppStoreRequest, of app: BundleID, _ admission: Admission,
        countCustomer: () throws(Problem) -> Void
    ) async throws(Problem) -> CompactJWS {
        let item = request.item(of: app)
        do throws(Problem) {
            try signer.requireApp(of: item, admission)
            try countCustomer()
            return try await signer.whereKeySigns(for: app, admission) { () throws(Problem) in
                try signer.sign(request, of: app, admission)
            }
        } catch {
            signer.noteRefusal(
                error, of: request.kind, item, grant: request.grant, customer: request.transactionID?.text.utf8,
                admission)
            throw error
        }
    }
}
