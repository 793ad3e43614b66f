import Logging
import OfferAudit
import OfferConfiguration
import OfferCore
import OfferEligibility
import OfferHTTP

/// The routes that answer with a signature.
///
/// ```
/// requireReady ─▶ read fields ─▶ check app ─▶ count ─┬───────────── sign ─▶ record ─▶ answer     without a rule
///                                                    └ load ─▶ decide ─▶ reserve ─▶ sign ─▶ …    by a rule
/// ```
///
/// Offers without a rule are answered on the event loop, unless their keys have threads. Proofs and rules are answered on the
/// asynchronous lane.
struct SigningEndpoints: Sendable {
    let signer: OfferSigner
    let decider: OfferDecider
    let limits: RequestLimits
    let proofs: ProofVerifier
    let log: Logger
    private let usernameWarning: UsernameWarning
    /// The limit on requests that wait for the database.
    let decisionLimit = LaneLimit(256)
    /// The limit on requests whose proofs are being verified. Each takes up to 150 ms of CPU time.
    let proofLimit = LaneLimit(64)
    /// The limit on requests without a rule that wait for the threads of their keys, which have queues of their own.
    let threadsLimit = LaneLimit(512)

    init(signer: OfferSigner, decider: OfferDecider, limits: RequestLimits, proofs: ProofVerifier, log: Logger) {
        self.signer = signer
        self.decider = decider
        self.limits = limits
        self.proofs = proofs
        self.log = log
        usernameWarning = UsernameWarning(metrics: signer.metrics, log: log)
    }

    /// `POST /offer` and `GET /offer`: one offer, in the format of Apple's sample.
    func answerSample(_ request: HTTPRequest, _ admission: Admission) throws(Problem) -> Endpoint.Lane {
        try signer.requireReady()
        let user = admission.principal.customer
        let offer = try OfferRequest(admission.members(of: request), spelling: .sample, user: user)
        // The client does not know a username that the service derived.
        let namesCustomer = user != nil || admission.principal.hashesUsernames
        guard admission.policy.terms(of: offer) != nil else {
            if signer.needsThreads(for: offer.appBundleID, admission) {
                return onThreads(admission) { admission async throws(Problem) in
                    let signed = try await signWithoutRuleOnThreads(offer, admission)
                    return (
                        HTTPResponse(body: signed.sampleBody(namesCustomer: namesCustomer)),
                        signed.entries(for: admission)
                    )
                }
            }
            let signed = try signWithoutRule(offer, admission)
            return .now(
                try answer(
                    HTTPResponse(body: signed.sampleBody(namesCustomer: namesCustomer)),
                    after: signed.entries(for: admission)))
        }
        return .later { () async throws(Problem) in
            try await decider.ledger.withReservations { reservations async throws(Problem) in
                let signed = try await signByRule([offer], proofs: nil, admission, &reservations)[0].get()
                return try await respond(
                    with: HTTPResponse(body: signed.offer.sampleBody(namesCustomer: namesCustomer)), to: [signed],
                    admission,
                    &reservations)
            }
        }
    }

    /// `POST /v1/advanced-commerce`.
    func answerAdvancedCommerce(_ request: HTTPRequest, _ admission: Admission) throws(Problem) -> Endpoint.Lane {
        try signer.requireReady()
        try refuseUsers(admission)
        let commerce = try AdvancedCommerceRequest(admission.members(of: request), body: request.body)
        let signed = AppStoreRequest.advancedCommerce(commerce.request)
        guard !signer.needsThreads(for: commerce.bundleID, admission) else {
            return onThreads(admission) { admission async throws(Problem) in
                let jws = try await signJWSOnThreads(signed, of: commerce.bundleID, admission) { () throws(Problem) in
                    try countCustomer(of: commerce, admission)
                }
                return (HTTPResponse(body: commerce.body(jws)), [jws.entry(for: admission)])
            }
        }
        let jws = try signJWS(signed, of: commerce.bundleID, admission) { () throws(Problem) in
            try countCustomer(of: commerce, admission)
        }
        return .now(try answer(HTTPResponse(body: commerce.body(jws)), after: [jws.entry(for: admission)]))
    }

    private func countCustomer(of commerce: AdvancedCommerceRequest, _ admission: Admission) throws(Problem) {
        guard let customer = commerce.customer else { return }
        try limits.countCustomer(customer, of: commerce.bundleID, under: admission.policy.limits, admission.context)
    }

    // MARK: Checks

    /// Refuses users, because they must not decide who gets an introductory offer or what anyone pays.
    func refuseUsers(_ admission: Admission) throws(Problem) {
        if case .user = admission.principal { throw .notForUsers }
    }

    /// Checks the app, and then counts the request against the customer. A request for an app that the caller may not
    /// sign for must not count.
    func check(_ offer: OfferRequest, _ admission: Admission) throws(Problem) {
        try signer.requireApp(of: offer.item, admission)
        try countCustomer(offer.customer, of: offer.appBundleID, offer.transactionID, admission)
    }

    /// Counts a request against its customer. Users can request only their own offers, and were already counted.
    func countCustomer(
        _ customer: Customer, of app: BundleID, _ transactionID: TransactionID?, _ admission: Admission
    ) throws(Problem) {
        usernameWarning.check(customer, of: admission.principal, admission.context)
        guard admission.principal.customer == nil else { return }
        let limits = admission.policy.limits
        try self.limits.countCustomer(customer, of: app, under: limits, admission.context)
        guard let transactionID else { return }
        try self.limits.countCustomer(of: transactionID, of: app, under: limits, admission.context)
    }

    /// - Returns: nil if the request has no proofs.
    func verifiedProofs(
        of body: ProofBody, _ app: BundleID, _ admission: Admission
    ) throws(Problem) -> VerifiedProofs? {
        try body.proofs.map { proofs throws(Problem) in
            try self.proofs.verify(proofs, of: app, in: admission.policy.catalogue)
        }
    }

    // MARK: Signing

    func signWithoutRule(_ offer: OfferRequest, _ admission: Admission) throws(Problem) -> SignedOffer {
        do throws(Problem) {
            try check(offer, admission)
            return try signer.sign(offer, admission)
        } catch {
            noteRefusal(error, of: offer, admission)
            throw error
        }
    }

    /// Signs a request for which only a JWS is made.
    /// - Parameter countCustomer: counts the request against its customer, after the app was checked.
    func signJWS(
        _ request: AppStoreRequest, of app: BundleID, _ admission: Admission,
        countCustomer: () throws(Problem) -> Void
    ) throws(Problem) -> CompactJWS {
        let item = request.item(of: app)
        do throws(Problem) {
            try signer.requireApp(of: item, admission)
            try countCustomer()
            return try signer.sign(request, of: app, admission)
        } catch {
            signer.noteRefusal(
                error, of: request.kind, item, grant: request.grant, customer: request.transactionID?.text.utf8,
                admission)
            throw error
        }
    }

    func noteRefusal(_ problem: Problem, of offer: OfferRequest, _ admission: Admission) {
        signer.noteRefusal(
            problem, of: .promotionalOffer, offer.item, customer: offer.customer.utf8, admission)
    }

    // MARK: Answers

    /// Returns an answer that is sent after the audit entries of its signatures are durable.
    /// - Parameter entries: evaluated only if there is an audit trail.
    func answer(
        _ response: HTTPResponse, after entries: @autoclosure () -> [AuditEntry]
    ) throws(Problem) -> Endpoint.Answer {
        Endpoint.Answer(response, after: try signer.commit(entries()))
    }

    /// Returns an answer after the audit entries of its signatures are durable, and keeps their reservations.
    func respond(
        with response: HTTPResponse, to offers: [DecidedOffer], _ admission: Admission,
        _ reservations: inout Reservations
    ) async throws(Problem) -> HTTPResponse {
        try await signer.record(offers.flatMap { $0.offer.entries(for: admission) })
        reservations.keep(offers.compactMap(\.reserved))
        return response
    }
}

extension Policy {
    /// - Returns: nil for an offer without a rule.
    func terms(of offer: OfferRequest) -> OfferTerms? {
        catalogue?.apps[offer.appBundleID]?.rules.terms(of: offer.productIdentifier, offer.offerID)
    }
}
