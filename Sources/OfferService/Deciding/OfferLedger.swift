import OfferAudit
import OfferCore
import SubscriberStore

/// The signatures that are to be made for one offer that a rule allows.
struct SignaturePlan: Sendable {
    let terms: OfferTerms
    /// The nonce of the V1 signature; nil if none is made, because it would not name the sandbox.
    let v1: Nonce?
    /// nil if no JWS is made.
    let jws: JWS?
    /// The timestamp of the signatures.
    let at: Timestamp
    /// When the last of them becomes worthless.
    let expiresAt: Timestamp

    struct JWS: Sendable {
        let nonce: Nonce
        let transactionID: TransactionID
    }

    var nonces: [Nonce] { [v1, jws?.nonce].compactMap(\.self) }
}

/// An offer whose signatures are durably reserved. Nothing else gives the right to sign an offer with a rule, and only
/// ``OfferLedger`` makes one.
struct ReservedOffer: Sendable {
    let app: AppScope
    let plan: SignaturePlan
    let decision: SignedDecision

    fileprivate init(app: AppScope, plan: SignaturePlan, decision: SignedDecision) {
        self.app = app
        self.plan = plan
        self.decision = decision
    }
}

/// What the ledger of the store says about offers that a rule allows.
struct OfferLedger {
    enum Answer {
        /// The limits allow it, and nothing is reserved.
        case allowed
        case reserved(ReservedOffer)
        case refused([ReasonCode])
    }

    let store: CurrentStore
    let metrics: ServiceMetrics

    /// Merges what the proofs show, checks the limits, and reserves, in one change.
    /// - Parameter plans: the best first.
    /// - Returns: an answer for each plan.
    func ask(
        about plans: [SignaturePlan], for customer: DecisionCustomer, reserving: LedgerRequest.Reserving,
        rules digest: [UInt8], at now: Timestamp
    ) async throws(Problem) -> [Answer] {
        let request = LedgerRequest(
            app: customer.app, facts: customer.newFacts, holders: customer.holders,
            offers: plans.map { plan in
                LedgerRequest.Offer(
                    productID: plan.terms.productID, offerID: plan.terms.offerID, limits: plan.terms.limits,
                    nonces: plan.nonces, expiresAt: plan.expiresAt)
            }, reserving: reserving, at: now)
        guard !plans.isEmpty || !request.facts.isEmpty else { return [] }
        let answers: [LedgerAnswer]
        do throws(StoreError) {
            answers =
                request.changesNothing
                ? try await store.read { store async throws(StoreError) in try await store.askLedger(request) }
                : try await store.write { store async throws(StoreError) in try await store.askLedger(request) }
        } catch { throw Problem(error) }
        for (plan, answer) in zip(plans, answers) { metrics.asked(answer, plan.terms, of: customer.app) }
        return zip(plans, answers).map { plan, answer in
            switch answer {
            case .allowed: .allowed
            case .refused(let codes): .refused(codes)
            case .reserved:
                .reserved(
                    ReservedOffer(
                        app: customer.app, plan: plan,
                        decision: SignedDecision(
                            rule: plan.terms.rule.name, rulesDigest: digest, factsDigest: customer.digest)))
            }
        }
    }

    /// Takes back what was not handed out. What cannot be taken back expires.
    func withdraw(_ offers: [ReservedOffer]) async {
        guard let app = offers.first?.app else { return }
        let nonces = offers.flatMap(\.plan.nonces)
        try? await store.write { store async throws(StoreError) in try await store.withdraw(nonces, in: app) }
    }
}
