package import Logging
package import OfferCore

/// The path of one offer, from the bytes of the request to the bytes of the answer.
///
/// It is synchronous and knows no framework, no socket and no clock of its own, so it can be tested, fuzzed and timed
/// by itself.
package struct OfferSigner: Sendable {
    private let setup: CurrentSetup
    private let authenticator: Authenticator
    let limiter: Limiter
    private let trail: AuditTrail?
    private let selfTest: SelfTest?
    private let earliest: Timestamp
    let makeNonce: @Sendable () -> Nonce
    let now: @Sendable () -> Timestamp
    let noIssuer: OccasionalWarning
    let metrics: ServiceMetrics
    let log: Logger

    /// - Parameters:
    ///   - selfTest: nil where the cryptography is not tested.
    ///   - earliest: nothing is signed with a time before; see ``ClockCheck/earliest``.
    package init(
        setup: CurrentSetup, authenticator: Authenticator, limiter: Limiter, trail: AuditTrail? = nil,
        selfTest: SelfTest? = nil, earliest: Timestamp = .min,
        makeNonce: @escaping @Sendable () -> Nonce, now: @escaping @Sendable () -> Timestamp, metrics: ServiceMetrics,
        log: Logger
    ) {
        self.setup = setup
        self.authenticator = authenticator
        self.limiter = limiter
        self.trail = trail
        self.selfTest = selfTest
        self.earliest = earliest
        self.makeNonce = makeNonce
        self.now = now
        self.metrics = metrics
        self.log = log
        noIssuer = OccasionalWarning("a JWS is asked for, and no issuer ID is configured for the app", log: log)
    }

    /// `POST /offer` and `GET /offer`.
    package func answerSample(_ request: IncomingRequest) throws(Problem) -> Answer {
        let admission = try admit(request)
        let offer = try sign(RequestMembers.read(request), spelling: .sample, for: admission)
        let body = offer.sampleBody(namesCustomer: admission.requester.customer != nil)
        return try answer(body, recording: offer.entries(for: admission))
    }

    /// `POST /v1/promotional-offers`: one offer, or a list of them that shares the admission.
    package func answerV1(_ request: IncomingRequest) throws(Problem) -> Answer {
        let admission = try admit(request)
        let members = try RequestMembers.read(request)
        guard let items = try OfferList.items(in: members) else {
            let offer = try sign(members, spelling: .v1, for: admission)
            return try answer(offer.v1Body, recording: offer.entries(for: admission))
        }
        let offers = sign(items, for: admission)
        return try answer(
            OfferList.body(offers),
            recording: offers.flatMap { offer in (try? offer.get())?.entries(for: admission) ?? [] })
    }

    /// The answer that leaves when the audit trail has what was signed for it.
    /// - Parameter entries: made only where there is a trail.
    func answer(_ body: [UInt8], recording entries: @autoclosure () -> [AuditEntry]) throws(Problem) -> Answer {
        var answer = Answer(body: body)
        guard let trail else { return answer }
        let entries = entries()
        if !entries.isEmpty { answer.recordedAt = try trail.add(entries) }
        return answer
    }

    private func sign(_ items: [JSONValue], for admission: Admission) -> [Result<SignedOffer, Problem>] {
        var admission = admission
        return items.enumerated().map { index, item in
            do throws(Problem) {
                let members = try OfferList.members(of: item, at: index)
                return .success(try sign(members, spelling: .v1, for: admission))
            } catch {
                metrics.refused(error.code)
                log.debug(
                    "offer of a list refused",
                    metadata: admission.context.metadata(["code": "\(error.code.rawValue)"]))
                // A key that met a fault signs nothing else in the list either.
                admission.setup = admission.setup.keepingOutOfService(whatIsOutOfServiceIn: setup.snapshot.ring)
                return .failure(error)
            }
        }
    }

    /// Signs an offer that nobody has to authenticate for: one from the command line.
    /// - Returns: it, and what has to be in the audit trail before it may leave.
    package func sign(
        _ offer: OfferRequest
    ) throws(Problem) -> (offer: SignedOffer, recordedAt: AuditTrail.Span?) {
        let admission = Admission(requester: .anyone, setup: setup.snapshot, context: RequestContext())
        let signed = try sign(offer, for: admission)
        return (signed, try trail?.add(signed.entries(for: admission)))
    }

    /// Who asks, and the setup that their whole request is held to.
    struct Admission {
        let requester: Requester
        var setup: Setup
        let context: RequestContext
    }

    /// Snapshot of the setup → requester → their limit → cryptography → audit trail.
    func admit(_ request: IncomingRequest) throws(Problem) -> Admission {
        guard !request.isLate else { throw .overloaded }
        let setup = setup.snapshot
        let requester = try authenticator.requester(of: request, under: setup, needing: .sign)
        try limiter.admit(requester, under: setup.limits, request.context)
        guard selfTest?.holds != false else { throw .signingUnavailable }
        // Nothing is signed that could not be recorded.
        guard trail?.fault == nil else { throw .auditUnavailable }
        return Admission(requester: requester, setup: setup, context: request.context)
    }

    /// Fields → app → their customer's limit → offer.
    private func sign(
        _ members: JSONObject, spelling: OfferRequest.Spelling, for admission: Admission
    ) throws(Problem) -> SignedOffer {
        let offer = try OfferRequest(members, spelling: spelling, user: admission.requester.customer)
        do throws(Problem) {
            try requireApp(of: offer.item, for: admission)
            try limiter.admit(offer, from: admission.requester, under: admission.setup.limits, admission.context)
            return try sign(offer, for: admission)
        } catch {
            note(error, of: .promotionalOffer, offer.item, customer: offer.customer.utf8, for: admission)
            throw error
        }
    }

    /// Catalogue → key → payload → signature → verification → JWS.
    private func sign(_ offer: OfferRequest, for admission: Admission) throws(Problem) -> SignedOffer {
        try requireInCatalogue(offer.item, for: admission)
        let key = try signingKey(for: offer.item, admission)
        let payload = try OfferPayload(
            appBundleID: offer.appBundleID,
            keyID: key.id,
            productIdentifier: offer.productIdentifier,
            offerID: offer.offerID,
            customer: offer.customer,
            nonce: makeNonce(),
            timestamp: timestamp()
        )
        let signature: OfferSignature
        var stopwatch = SigningStopwatch(metrics)
        do { signature = try key.pair.signature(for: payload) { stopwatch.note($0) } } catch {
            throw report(error, of: key.id, admission)
        }
        metrics.signed(.promotionalOffer, for: offer.appBundleID, with: key.id, under: admission.setup)
        log.debug(
            "offer signed",
            metadata: admission.context.metadata(["keyID": "\(key.id)", "offerID": "\(offer.offerID.text)"]))
        let jws = try jws(for: offer, key: key, at: payload.timestamp, admission)
        return SignedOffer(payload: payload, signature: signature, jws: jws)
    }

    /// The time to sign with.
    func timestamp() throws(Problem) -> Timestamp {
        let now = now()
        guard now >= earliest else { throw .clockWrong }
        return now
    }

    // MARK: Refusals

    /// Puts what was understood and not signed into the audit trail. Of what is asked for too often there is no end.
    func note(
        _ problem: Problem, of kind: SignatureKind, _ item: CatalogueItem, customer: [UInt8]?, for admission: Admission
    ) {
        guard problem.code != .rateLimited else { return }
        trail?.note(
            AuditEntry(
                time: now(), requestID: admission.context.id.text, caller: admission.requester.name, kind: kind,
                item: item, customer: customer, outcome: .refused(problem.code.rawValue)))
    }

    func requireApp(of item: CatalogueItem, for admission: Admission) throws(Problem) {
        guard let apps = admission.requester.apps, !apps.contains(item.app) else { return }
        throw refuse(item, because: "the caller may not sign for this app", for: admission)
    }

    func requireInCatalogue(_ item: CatalogueItem, for admission: Admission) throws(Problem) {
        guard let catalogue = admission.setup.catalogue else { return }
        do { try catalogue.require(item) } catch {
            let hint = CatalogueHint.hint(for: error, item, in: catalogue)
            throw refuse(item, because: "\(error)" + (hint.map { ": \($0)" } ?? ""), for: admission)
        }
    }

    func signingKey(for item: CatalogueItem, _ admission: Admission) throws(Problem) -> KeyRing.Key {
        do { return try admission.setup.ring.signingKey(for: item.app) } catch {
            switch error {
            case .noKey: throw refuse(item, because: "no key is chosen for this app", for: admission)
            case .unknown, .exists, .activeKey, .retired, .outOfService: throw .signingUnavailable
            }
        }
    }

    /// The caller hears the same of every reason, so that nobody finds out by asking what there is; the log hears which.
    private func refuse(_ item: CatalogueItem, because reason: String, for admission: Admission) -> Problem {
        log.notice(
            "offer not served",
            metadata: admission.context.metadata([
                "reason": "\(reason)", "app": "\(item.app.text)",
                "product": "\(item.product?.text.description ?? "-")",
                "offer": "\(item.offer?.text.description ?? "-")", "caller": "\(admission.requester.name)",
            ]))
        return .offerNotServed
    }

    /// A fault of the key: the log gets all of it, the caller only that there is no signature.
    func report(_ fault: SigningFault, of id: KeyID, _ admission: Admission) -> Problem {
        let context = admission.context
        switch fault {
        case .signatureRefused:
            setup.takeOutOfService(id)
            metrics.selfVerificationFailed(of: id)
            log.critical(
                """
                ALARM: a signature did not verify with its own public key. It was not sent, and the key signs no more. \
                Suspect memory, processor or libcrypto; restart on another machine.
                """,
                metadata: context.metadata(["keyID": "\(id)"]))
        case .signingFailed(let error):
            log.error("signing failed", metadata: context.metadata(["keyID": "\(id)", "reason": "\(error)"]))
        case .verificationFailed(let error):
            log.error("verifying failed", metadata: context.metadata(["keyID": "\(id)", "reason": "\(error)"]))
        }
        return .signingUnavailable
    }
}
