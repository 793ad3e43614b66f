import AppStoreData
import Logging
import OfferConfiguration
import OfferCore
import OfferEligibility
import OfferHTTP
import SubscriberStore
import SubscriberSync

extension OfferSigner {
    /// Signs offers with proofs, and those that a rule decides. Runs on the asynchronous lane.
    func answerLater(
        _ body: ProofBody, _ list: OfferList, _ admission: Admission
    ) async throws(Problem) -> HTTPResponse {
        // The request may have waited for a thread.
        try requireReady()
        var admission = admission
        admission.policy = admission.policy.mergingOutOfService(from: policy.snapshot.ring)
        let verified = try verifiedProofs(of: body, list, admission)
        if let verified, let app = verified.app,
            list.requests.contains(where: { admission.policy.terms(of: $0) == nil })
        {
            await askLater(about: verified, of: app, admission.policy)
            await keep(verified, of: app)
        }
        try count(list, admission)
        var outcomes: [Result<DecidedOffer, Problem>] = []
        for item in list.items {
            do throws(Problem) {
                let offer = try item.get()
                outcomes.append(
                    .success(
                        admission.policy.terms(of: offer) == nil
                            ? DecidedOffer(try signPlain(offer, admission), nil)
                            : try await signByRule(offer, proofs: verified, admission)))
            } catch {
                guard list.isList else { throw error }
                outcomes.append(.failure(noteRefusal(error, inListOf: &admission)))
            }
        }
        let answer = list.body(
            outcomes.map { $0.map(\.offer) }, showing: body.wantsVerifiedProofs ? verified : nil)
        return try await respond(with: answer, to: outcomes.compactMap { try? $0.get() }, admission)
    }

    /// Starts a refresh of a customer whom the store does not know, or whose data is old. The offer does not wait.
    private func askLater(about proofs: VerifiedProofs, of app: AppScope, _ policy: Policy) async {
        guard let refresher, store.store != nil, let original = proofs.latestOriginalTransactionID,
            let question = CustomerQuestion(original, in: app, receipt: proofs.receipt.map { _ in proofs.receiptText })
        else { return }
        let freshness = policy.catalogue?.apps[app.bundleID]?.freshness
        let known = try? await store.read { store throws(StoreError) in
            try await store.customers(
                known: .originalTransactionID(original), bundleID: app.bundleID, environment: app.environment)
        }
        guard let known else { return }
        let now = sources.now()
        if known.isEmpty || known.contains(where: { !$0.staleSubscriptions(under: freshness, at: now).isEmpty }) {
            refresher.refreshLater(question)
        }
    }

    /// Merges proofs into the store, as facts of equal rank with notifications.
    ///
    /// An offer without a rule is signed even if the store fails. After a failure, nothing waits for the store until it works
    /// again.
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
    private func verifiedProofs(
        of body: ProofBody, _ list: OfferList, _ admission: Admission
    ) throws(Problem) -> VerifiedProofs? {
        guard let proofs = body.proofs else { return nil }
        let offers = list.requests
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

    private func isServed(_ app: BundleID, _ admission: Admission) -> Bool {
        if let apps = admission.principal.apps, !apps.contains(app) { return false }
        return admission.policy.catalogue.map { $0.apps[app] != nil } ?? true
    }
}
