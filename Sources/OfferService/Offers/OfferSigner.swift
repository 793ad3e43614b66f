import Logging
import OfferAudit
import OfferConfiguration
package import OfferCore
import OfferEligibility
import OfferHTTP
import OfferTelemetry
import SubscriberSync

/// The signing path: from an admitted request to a signed response.
///
/// ```
/// answer… ─▶ requireReady ─▶ read fields ─▶ authorise ─▶ sign ─▶ record ─▶ respond
///                                               └ SigningRight: the only access to a key
/// ```
///
/// It owns neither socket nor clock, so it can be tested, fuzzed and timed in isolation. It is synchronous, except that on the
/// asynchronous lane proofs are verified first, and offers with a rule are decided and reserved; see
/// ``decide(_:_:about:signing:wantsJWS:_:)``.
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
    private let usernameWarning: UsernameWarning
    let proofs: ProofVerifier
    let store: CurrentStore
    /// nil if the App Store is not queried.
    let refresher: CustomerRefresher?
    /// Bounds the requests that wait for the database.
    let decisionLimit = LaneLimit(256)

    /// - Parameters:
    ///   - selfTest: nil to skip the self-test of the cryptography.
    ///   - earliest: the earliest time to sign with; see ``ClockCheck/earliest``.
    init(
        policy: CurrentPolicy, keyHealth: KeyHealth, limits: RequestLimits, trail: AuditTrail?, selfTest: SelfTest?,
        earliest: Timestamp, sources: Sources, metrics: ServiceMetrics, refusals: RefusalLog, proofs: ProofVerifier,
        store: CurrentStore, refresher: CustomerRefresher?, log: Logger
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
        self.refresher = refresher
        self.log = log
        usernameWarning = UsernameWarning(metrics: metrics, log: log)
        missingIssuerWarning = ThrottledWarning(
            "a JWS was requested for an app without an issuer ID", log: log)
    }

    // MARK: Endpoints

    /// `POST /offer` and `GET /offer`: one offer, in the format of Apple's sample.
    func answerSample(_ request: HTTPRequest, _ admission: Admission) throws(Problem) -> Endpoint.Lane {
        try requireReady()
        let user = admission.principal.customer
        let offer = try OfferRequest(admission.members(of: request), spelling: .sample, user: user)
        // The client does not know a username that the service has derived.
        let namesCustomer = user != nil || admission.principal.hashesUsernames
        guard admission.policy.terms(of: offer) == nil else {
            return .later { () async throws(Problem) in
                let signed = try await self.signByRule(offer, proofs: nil, admission)
                return try await self.respond(
                    with: signed.offer.sampleBody(namesCustomer: namesCustomer), to: [signed], admission)
            }
        }
        let signed = try signPlain(offer, admission)
        return .now(
            try record(signed.entries(for: admission), answer: signed.sampleBody(namesCustomer: namesCustomer)))
    }

    /// `POST /v1/promotional-offers`: one offer, or a list of offers that share one admission.
    ///
    /// Proofs are verified first, on the asynchronous lane, and offers with a rule are decided there. Large bodies take
    /// a few milliseconds to read, so they are read there too.
    func answerPromotionalOffers(_ request: HTTPRequest, _ admission: Admission) throws(Problem) -> Endpoint.Lane {
        try requireReady()
        guard request.body.count <= HTTPRequest.maximumBodySize else {
            return .later { () async throws(Problem) in
                let body = try ProofBody(admission.members(of: request))
                return try await self.answerLater(body, OfferList(body.rest, admission.principal), admission)
            }
        }
        let body = try ProofBody(admission.members(of: request))
        let list = try OfferList(body.rest, admission.principal)
        guard body.proofs == nil, !list.requests.contains(where: { admission.policy.terms(of: $0) != nil }) else {
            return .later { () async throws(Problem) in try await self.answerLater(body, list, admission) }
        }
        let outcomes = try signEach(of: list, admission)
        let signed = outcomes.compactMap { try? $0.get() }
        return .now(try record(signed.flatMap { $0.entries(for: admission) }, answer: list.body(outcomes)))
    }

    /// Counts the offers of a list against their principal.
    func count(_ list: OfferList, _ admission: Admission) throws(Problem) {
        guard list.isList else { return }
        try limits.countList(
            of: list.items.count, admission.principal, under: admission.policy.limits, admission.context)
    }

    /// `POST /v1/introductory-offers`. If the caller does not decide, the app's rule does.
    func answerIntroductoryOffer(_ request: HTTPRequest, _ admission: Admission) throws(Problem) -> Endpoint.Lane {
        try requireReady()
        try refuseUsers(admission)
        let body = try ProofBody(admission.members(of: request))
        let offer = try IntroductoryOfferRequest(body.rest)
        guard let isAllowed = offer.allowIntroductoryOffer else {
            guard let rule = admission.policy.catalogue?.apps[offer.bundleID]?.rules.introductoryOffers else {
                throw .missingField("allowIntroductoryOffer")
            }
            return .later { () async throws(Problem) in
                try await self.answerIntroductoryOffer(offer, by: rule, body, admission)
            }
        }
        guard body.proofs == nil else { throw .conflictingFields("proofs", "allowIntroductoryOffer") }
        let jws = try signIntroductoryOffer(offer, allowing: isAllowed, admission)
        return .now(try record([jws.entry(for: admission)], answer: offer.body(jws, allowing: isAllowed)))
    }

    func signIntroductoryOffer(
        _ offer: IntroductoryOfferRequest, allowing isAllowed: Bool, _ admission: Admission
    ) throws(Problem) -> CompactJWS {
        try signJWS(offer.appStoreRequest(allowing: isAllowed), app: offer.bundleID, admission) {
            () throws(Problem) in try countCustomer(of: offer, admission)
        }
    }

    /// Signs for a customer whose limit already counts the request.
    func signCountedIntroductoryOffer(
        _ offer: IntroductoryOfferRequest, allowing isAllowed: Bool, _ admission: Admission
    ) throws(Problem) -> CompactJWS {
        try signJWS(offer.appStoreRequest(allowing: isAllowed), app: offer.bundleID, admission) {}
    }

    func countCustomer(of offer: IntroductoryOfferRequest, _ admission: Admission) throws(Problem) {
        try limits.countCustomer(
            of: offer.transactionID, of: offer.bundleID, under: admission.policy.limits, admission.context)
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

    /// Checks the app and the customer's rate limit, and signs an offer without a rule.
    func signPlain(_ offer: OfferRequest, _ admission: Admission) throws(Problem) -> SignedOffer {
        try recordingRefusal(of: .promotionalOffer, offer.item, customer: offer.customer.utf8, admission) {
            () throws(Problem) in
            // Check the app first. A request for an app that the caller may not sign for must not count against the customer.
            try requireApp(of: offer.item, admission)
            try countCustomer(of: offer, admission)
            return try sign(offer, admission)
        }
    }

    /// Signs offers without a rule.
    private func signEach(
        of list: OfferList, _ admission: Admission
    ) throws(Problem) -> [Result<SignedOffer, Problem>] {
        try count(list, admission)
        var admission = admission
        var outcomes: [Result<SignedOffer, Problem>] = []
        for item in list.items {
            do throws(Problem) { outcomes.append(.success(try signPlain(item.get(), admission))) } catch {
                guard list.isList else { throw error }
                outcomes.append(.failure(noteRefusal(error, inListOf: &admission)))
            }
        }
        return outcomes
    }

    /// Counts and logs that one offer of a list was refused.
    func noteRefusal(_ problem: Problem, inListOf admission: inout Admission) -> Problem {
        metrics.refused(problem.code)
        log.debug(
            "offer in list refused", metadata: admission.context.metadata(["code": "\(problem.code.rawValue)"]))
        // A key that has made a bad signature must not sign the rest of the list.
        admission.policy = admission.policy.mergingOutOfService(from: policy.snapshot.ring)
        return problem
    }

    /// Authorises and signs the offer, and makes its JWS.
    private func sign(_ offer: OfferRequest, _ admission: Admission) throws(Problem) -> SignedOffer {
        let right = try authorise(offer.item, admission)
        let time = try timestamp()
        let (payload, signature) = try makeSignature(
            for: offer.customer, right, nonce: sources.makeNonce(), at: time, admission)
        return SignedOffer(
            payload: payload, signature: signature, jws: try makeJWS(for: offer, right, at: time, admission))
    }

    func makeSignature(
        for customer: Customer, _ right: SigningRight, nonce: Nonce, at time: Timestamp, _ admission: Admission
    ) throws(Problem) -> (OfferPayload, OfferSignature) {
        let signed = try reportingFaults(of: right, admission) { () throws(SigningFault) in
            var timer = SigningTimer(metrics)
            return try right.signature(for: customer, nonce: nonce, timestamp: time) { timer.note($0) }
        }
        metrics.signed(.promotionalOffer, for: right.item.app, with: right.keyID, under: admission.policy)
        log.debug(
            "offer signed",
            metadata: admission.context.metadata([
                "keyID": "\(right.keyID)", "offerID": "\(signed.0.offerID.text)",
            ]))
        return signed
    }

    /// Counts the offer against its customer. Users can request only their own offers and have already been counted.
    func countCustomer(of offer: OfferRequest, _ admission: Admission) throws(Problem) {
        try countCustomer(offer.customer, of: offer.appBundleID, offer.transactionID, admission)
    }

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

    /// - Parameter nonce: nil for a new one.
    func makeJWS(
        _ request: AppStoreRequest, _ right: SigningRight, nonce: Nonce? = nil, at time: Timestamp,
        _ admission: Admission
    ) throws(Problem) -> CompactJWS {
        let jws = try reportingFaults(of: right, admission) { () throws(SigningFault) in
            var timer = SigningTimer(metrics)
            return try right.compactJWS(for: request, nonce: nonce ?? sources.makeNonce(), timestamp: time) {
                timer.note($0)
            }
        }
        metrics.signed(request.kind, for: right.item.app, with: right.keyID, under: admission.policy)
        log.debug(
            "JWS signed",
            metadata: admission.context.metadata(["keyID": "\(right.keyID)", "aud": "\(request.audience)"]))
        return jws
    }

    /// Returns the time to sign with, which must not be before ``earliest``.
    func timestamp() throws(Problem) -> Timestamp {
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

    func commit(_ entries: @autoclosure () -> [AuditEntry]) throws(Problem) -> Commit? {
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
