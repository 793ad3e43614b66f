import AppStoreData
import Logging
import OfferCore
import OfferHTTP
import SubscriberStore

extension OfferSigner {
    /// Verifies the proofs of a request before anything is signed. Runs on the asynchronous lane.
    func answerWithProofs(_ body: ProofBody, _ admission: Admission) async throws(Problem) -> HTTPResponse {
        // The request may have waited for a thread.
        try requireReady()
        var admission = admission
        admission.policy = admission.policy.mergingOutOfService(from: policy.snapshot.ring)
        let verified = try verifiedProofs(of: body, admission)
        if let verified, let app = verified.app { await keep(verified, of: app) }
        let answer = try signPromotionalOffers(
            in: body.rest, admission, showing: body.wantsVerifiedProofs ? verified : nil)
        guard await answer.commit?.isDurable() ?? true else { throw .auditUnavailable }
        return answer.response
    }

    /// Merges proofs into the store, as facts of equal rank with notifications.
    ///
    /// The offer has no rule, so it is signed even if the store fails. After a failure, nothing waits for the store until
    /// it works again.
    private func keep(_ proofs: VerifiedProofs, of app: AppScope) async {
        guard store.works else { return }
        do {
            let facts = try proofs.facts(at: sources.now())
            try await store.write { store throws(StoreError) in try await store.merge(facts, in: app) }
        } catch {
            log.debug("proofs not stored", metadata: ["reason": "\(error)"])
        }
    }

    /// - Returns: nil if there are no proofs, or if their app is not served, so that every offer is refused.
    private func verifiedProofs(of body: ProofBody, _ admission: Admission) throws(Problem) -> VerifiedProofs? {
        guard let proofs = body.proofs else { return nil }
        let offers = try offers(in: body.rest, admission)
        let apps = Set(offers.map(\.item.app))
        guard apps.count <= 1 else { throw .proofsOfSeveralApps }
        guard let app = apps.first else { throw .proofRefused("proofs", DataRefusal(.noApp)) }
        guard isServed(app, admission) else { return nil }
        do throws(Problem) {
            return try self.proofs.verify(proofs, of: app, in: admission.policy.catalogue)
        } catch {
            for offer in offers {
                noteRefusal(error, of: .promotionalOffer, offer.item, customer: offer.customer.utf8, admission)
            }
            throw error
        }
    }

    /// The offers of a request that can be read. The others of a list get problems of their own later.
    private func offers(in members: JSONObject, _ admission: Admission) throws(Problem) -> [OfferRequest] {
        let customer = admission.principal.customer
        guard let items = try OfferList.items(in: members) else {
            return [try OfferRequest(members, spelling: .v1, user: customer)]
        }
        return items.enumerated().compactMap { index, item in
            (try? OfferList.members(of: item, at: index)).flatMap {
                try? OfferRequest($0, spelling: .v1, user: customer)
            }
        }
    }

    private func isServed(_ app: BundleID, _ admission: Admission) -> Bool {
        if let apps = admission.principal.apps, !apps.contains(app) { return false }
        return admission.policy.catalogue.map { $0.apps[app] != nil } ?? true
    }
}
