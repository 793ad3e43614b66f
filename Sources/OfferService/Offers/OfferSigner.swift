import Logging
import OfferAudit
package import OfferCore
import OfferHTTP
import OfferTelemetry

/// The signing path: from an admitted request to a signed response.
///
/// ```
/// answer… ─▶ requireReady ─▶ read fields ─▶ authorise ─▶ sign ─▶ record ─▶ respond
///                                               └ SigningRight: the only access to a key
/// ```
///
/// It owns neither socket nor clock, so it can be tested, fuzzed and timed in isolation. It is synchronous, except that
/// proofs are verified on the asynchronous lane first; see ``answerWithProofs(_:_:)``.
package struct OfferSigner: Sendable {
    let policy: CurrentPolicy
    private let keyHealth: KeyHealth
    private let limits: RequestLimits
    private let trail: AuditTrail?
    private let selfTest: SelfTest?
    private let earliest: Timestamp
    let sources: Sources
    let metrics: ServiceMetrics
    let refusals: RefusalLog
    let log: Logger
    let missingIssuerWarning: ThrottledWarning
    let proofs: ProofVerifier
    let store: CurrentStore

    /// - Parameters:
    ///   - selfTest: nil to skip the self-test of the cryptography.
    ///   - earliest: the earliest time to sign with; see ``ClockCheck/earliest``.
    init(
        policy: CurrentPolicy, keyHealth: KeyHealth, limits: RequestLimits, trail: AuditTrail?, selfTest: SelfTest?,
        earliest: Timestamp, sources: Sources, metrics: ServiceMetrics, refusals: RefusalLog, proofs: ProofVerifier,
        store: CurrentStore, log: Logger
    ) {
        self.policy = policy
        self.keyHealth = keyHealth
        self.limits = limits
        self.trail = trail
        self.selfTest = selfTest
        self.earliest = earliest
        self.sources = sources
        self.metrics = metrics
        self.refusals = refusals
        self.proofs = proofs
        self.store = store
        self.log = log
        missingIssuerWarning = ThrottledWarning(
            "a JWS was requested for an app without an issuer ID", log: log)
    }

    // MARK: Endpoints

    /// `POST /offer` and `GET /offer`: one offer, in the format of Apple's sample.
    func answerSample(_ request: HTTPRequest, _ admission: Admission) throws(Problem) -> Endpoint.Answer {
        try requireReady()
        let offer = try signOffer(in: RequestMembers.read(request), spelling: .sample, admission)
        let body = offer.sampleBody(namesCustomer: admission.principal.customer != nil)
        return try record(offer.entries(for: admission), answer: body)
    }

    /// `POST /v1/promotional-offers`: one offer, or a list of offers that share one admission.
    ///
    /// Proofs are verified first, on the asynchronous lane. Large bodies are read there too, which takes a few milliseconds.
    func answerPromotionalOffers(_ request: HTTPRequest, _ admission: Admission) throws(Problem) -> Endpoint.Lane {
        try requireReady()
        guard request.body.count <= HTTPRequest.maximumBodySize else {
            return .later { () async throws(Problem) in
                try await self.answerWithProofs(ProofBody(RequestMembers.read(request)), admission)
            }
        }
        let body = try ProofBody(RequestMembers.read(request))
        guard body.proofs != nil else { return .now(try signPromotionalOffers(in: body.rest, admission)) }
        return .later { () async throws(Problem) in try await self.answerWithProofs(body, admission) }
    }

    /// - Parameter proofs: to repeat in the answer.
    func signPromotionalOffers(
        in members: JSONObject, _ admission: Admission, showing proofs: VerifiedProofs? = nil
    ) throws(Problem) -> Endpoint.Answer {
        var writer = JSONWriter()
        guard let items = try OfferList.items(in: members) else {
            let offer = try signOffer(in: members, spelling: .v1, admission)
            offer.writeV1(to: &writer)
            proofs?.write(to: &writer)
            return try record(offer.entries(for: admission), answer: writer.finish())
        }
        try limits.countList(
            of: items.count, admission.principal, under: admission.policy.limits, admission.context)
        let offers = signEach(items, admission)
        OfferList.write(offers, to: &writer)
        proofs?.write(to: &writer)
        return try record(
            offers.flatMap { offer in (try? offer.get())?.entries(for: admission) ?? [] }, answer: writer.finish())
    }

    /// `POST /v1/introductory-offers`.
    func answerIntroductoryOffer(_ request: HTTPRequest, _ admission: Admission) throws(Problem) -> Endpoint.Answer {
        try requireReady()
        try refuseUsers(admission)
        let offer = try IntroductoryOfferRequest(RequestMembers.read(request))
        let jws = try signJWS(offer.appStoreRequest, app: offer.bundleID, admission) { () throws(Problem) in
            try limits.countCustomer(
                of: offer.transactionID, of: offer.bundleID, under: admission.policy.limits, admission.context)
        }
        return try record([jws.entry(for: admission)], answer: offer.body(jws))
    }

    /// `POST /v1/advanced-commerce`.
    func answerAdvancedCommerce(_ request: HTTPRequest, _ admission: Admission) throws(Problem) -> Endpoint.Answer {
        try requireReady()
        try refuseUsers(admission)
        let commerce = try AdvancedCommerceRequest(RequestMembers.read(request), body: request.body)
        let jws = try signJWS(.advancedCommerce(commerce.request), app: commerce.bundleID, admission) {
            () throws(Problem) in
            guard let customer = commerce.customer else { return }
            try limits.countCustomer(
                customer, of: commerce.bundleID, under: admission.policy.limits, admission.context)
        }
        return try record([jws.entry(for: admission)], answer: commerce.body(jws))
    }

    /// `offer-signer sign`: signs an offer from the command line, without authentication.
    /// - Returns: the offer, and the entries that must be durable before it is printed.
    package func signForCommand(_ offer: OfferRequest) throws(Problem) -> (offer: SignedOffer, commit: Commit?) {
        try requireReady()
        let admission = Admission(principal: .anyone, policy: policy.snapshot, context: RequestContext())
        let signed = try sign(offer, admission)
        return (signed, try commit(signed.entries(for: admission)))
    }

    // MARK: Preconditions

    /// Refuses to sign if the self-test has failed or the audit trail cannot be written.
    func requireReady() throws(Problem) {
        guard selfTest?.holds != false else { throw .signingUnavailable }
        guard trail?.fault == nil else { throw .auditUnavailable }
    }

    /// Refuses users, because they must not decide who gets an introductory offer or what anyone pays.
    private func refuseUsers(_ admission: Admission) throws(Problem) {
        if case .user = admission.principal { throw .notForUsers }
    }

    // MARK: Promotional offers

    /// Reads the fields, checks the app and the customer's rate limit, and signs the offer.
    private func signOffer(
        in members: JSONObject, spelling: OfferRequest.Spelling, _ admission: Admission
    ) throws(Problem) -> SignedOffer {
        let offer = try OfferRequest(members, spelling: spelling, user: admission.principal.customer)
        return try recordingRefusal(of: .promotionalOffer, offer.item, customer: offer.customer.utf8, admission) {
            () throws(Problem) in
            // Check the app first: a request for an app that the caller may not sign for must not count against the
            // customer.
            try requireApp(of: offer.item, admission)
            try countCustomer(of: offer, admission)
            return try sign(offer, admission)
        }
    }

    private func signEach(_ items: [JSONValue], _ admission: Admission) -> [Result<SignedOffer, Problem>] {
        var admission = admission
        return items.enumerated().map { index, item in
            do throws(Problem) {
                let members = try OfferList.members(of: item, at: index)
                return .success(try signOffer(in: members, spelling: .v1, admission))
            } catch {
                metrics.refused(error.code)
                log.debug(
                    "offer in list refused",
                    metadata: admission.context.metadata(["code": "\(error.code.rawValue)"]))
                // A key that has made a bad signature must not sign the rest of the list.
                admission.policy = admission.policy.mergingOutOfService(from: policy.snapshot.ring)
                return .failure(error)
            }
        }
    }

    /// Authorises and signs the offer, and makes its JWS.
    private func sign(_ offer: OfferRequest, _ admission: Admission) throws(Problem) -> SignedOffer {
        let right = try authorise(offer.item, admission)
        let time = try timestamp()
        let (payload, signature) = try reportingFaults(of: right, admission) { () throws(SigningFault) in
            var timer = SigningTimer(metrics)
            return try right.signature(for: offer.customer, nonce: sources.makeNonce(), timestamp: time) {
                timer.note($0)
            }
        }
        metrics.signed(.promotionalOffer, for: offer.appBundleID, with: right.keyID, under: admission.policy)
        log.debug(
            "offer signed",
            metadata: admission.context.metadata(["keyID": "\(right.keyID)", "offerID": "\(offer.offerID.text)"]))
        return SignedOffer(
            payload: payload, signature: signature, jws: try makeJWS(for: offer, right, at: time, admission))
    }

    /// Counts the offer against its customer. Users can request only their own offers and have already been counted.
    private func countCustomer(of offer: OfferRequest, _ admission: Admission) throws(Problem) {
        guard admission.principal.customer == nil else { return }
        let (app, limits) = (offer.appBundleID, admission.policy.limits)
        try self.limits.countCustomer(offer.customer, of: app, under: limits, admission.context)
        guard let transactionID = offer.transactionID else { return }
        try self.limits.countCustomer(of: transactionID, of: app, under: limits, admission.context)
    }

    // MARK: JWS

    /// Makes the JWS that accompanies the signature of a promotional offer, or returns the reasons it cannot be made.
    private func makeJWS(
        for offer: OfferRequest, _ right: SigningRight, at time: Timestamp, _ admission: Admission
    ) throws(Problem) -> OfferJWS {
        guard offer.wantsJWS else { return .notWanted }
        if case .user = admission.principal { return .missing(.callersToken) }
        var gaps: OfferJWS.Gaps = right.issuerID == nil ? .issuerID : []
        if offer.transactionID == nil, !right.allowsUnboundJWS { gaps.insert(.transactionID) }
        guard gaps.isEmpty else { return .missing(gaps) }
        let request = AppStoreRequest.promotionalOffer(offer.productIdentifier, offer.offerID, offer.transactionID)
        let jws = try makeJWS(request, right, at: time, admission)
        if offer.transactionID == nil { metrics.signedUnbound(for: offer.appBundleID) }
        return .made(jws)
    }

    /// Authorises a request and makes its JWS, for requests that are signed only in this form.
    /// - Parameter countCustomer: counts the request against its customer, once the app has been checked.
    private func signJWS(
        _ request: AppStoreRequest, app: BundleID, _ admission: Admission, countCustomer: () throws(Problem) -> Void
    ) throws(Problem) -> CompactJWS {
        let item = request.item(of: app)
        let customer = request.transactionID?.text.utf8
        return try recordingRefusal(of: request.kind, item, grant: request.grant, customer: customer, admission) {
            () throws(Problem) in
            try requireApp(of: item, admission)
            try countCustomer()
            let right = try authorise(item, needsIssuerID: true, admission)
            return try makeJWS(request, right, at: timestamp(), admission)
        }
    }

    private func makeJWS(
        _ request: AppStoreRequest, _ right: SigningRight, at time: Timestamp, _ admission: Admission
    ) throws(Problem) -> CompactJWS {
        let jws = try reportingFaults(of: right, admission) { () throws(SigningFault) in
            var timer = SigningTimer(metrics)
            return try right.compactJWS(for: request, nonce: sources.makeNonce(), timestamp: time) { timer.note($0) }
        }
        metrics.signed(request.kind, for: right.item.app, with: right.keyID, under: admission.policy)
        log.debug(
            "JWS signed",
            metadata: admission.context.metadata(["keyID": "\(right.keyID)", "aud": "\(request.audience)"]))
        return jws
    }

    /// Returns the time to sign with, which must not be before ``earliest``.
    private func timestamp() throws(Problem) -> Timestamp {
        let now = sources.now()
        guard now >= earliest else { throw .clockWrong }
        return now
    }

    // MARK: Recording and reporting

    /// Returns an answer that is sent once the audit entries of its signatures are durable.
    /// - Parameter entries: evaluated only if there is an audit trail.
    private func record(
        _ entries: @autoclosure () -> [AuditEntry], answer body: [UInt8]
    ) throws(Problem) -> Endpoint.Answer {
        Endpoint.Answer(HTTPResponse(body: body), after: try commit(entries()))
    }

    private func commit(_ entries: @autoclosure () -> [AuditEntry]) throws(Problem) -> Commit? {
        guard let trail else { return nil }
        let entries = entries()
        guard !entries.isEmpty else { return nil }
        guard let commit = trail.add(entries) else { throw .auditUnavailable }
        return commit
    }

    /// Notes in the audit trail that a well-formed request was not signed. Refusals by rate limits are left out,
    /// because their number is unbounded.
    private func recordingRefusal<Signed>(
        of kind: SignatureKind, _ item: CatalogueItem, grant: AuditEntry.Grant? = nil, customer: [UInt8]?,
        _ admission: Admission,
        _ sign: () throws(Problem) -> Signed
    ) throws(Problem) -> Signed {
        do throws(Problem) { return try sign() } catch {
            noteRefusal(error, of: kind, item, grant: grant, customer: customer, admission)
            throw error
        }
    }

    /// Records a refusal in the audit trail, unless a rate limit is its reason.
    func noteRefusal(
        _ problem: Problem, of kind: SignatureKind, _ item: CatalogueItem, grant: AuditEntry.Grant? = nil,
        customer: [UInt8]?, _ admission: Admission
    ) {
        guard problem.code != .rateLimited else { return }
        trail?.note(
            AuditEntry(
                time: sources.now(), requestID: admission.context.id.text, client: admission.client, kind: kind,
                item: item, grant: grant, customer: customer, outcome: .refused(problem.code.rawValue)))
    }

    /// Logs a signing fault in full, and tells the caller only that signing is unavailable. Takes a key that made a bad
    /// signature out of service. Readiness fails while a key cannot sign or verify.
    private func reportingFaults<Signed>(
        of right: SigningRight, _ admission: Admission, _ sign: () throws(SigningFault) -> Signed
    ) throws(Problem) -> Signed {
        do throws(SigningFault) { return try sign() } catch {
            let keyID = right.keyID
            switch error {
            case .signatureRefused:
                keyHealth.takeOutOfService(
                    keyID,
                    alarm: """
                        ALARM: a signature did not verify with its own public key. It was not sent, and the key is out of \
                        service. Suspect memory, processor or libcrypto; restart on another machine.
                        """, admission.context.metadata([:]))
            case .signingFailed(let error):
                keyHealth.note(.cannotSign(error), of: keyID, admission.context.metadata([:]))
            case .verificationFailed(let error):
                keyHealth.note(.cannotVerify(error), of: keyID, admission.context.metadata([:]))
            }
            throw .signingUnavailable
        }
    }
}
