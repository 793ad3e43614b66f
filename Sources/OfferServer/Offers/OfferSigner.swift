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
    let makeNonce: @Sendable () -> Nonce
    let now: @Sendable () -> Timestamp
    let noIssuer: OccasionalWarning
    let log: Logger

    package init(
        setup: CurrentSetup, authenticator: Authenticator, limiter: Limiter, makeNonce: @escaping @Sendable () -> Nonce,
        now: @escaping @Sendable () -> Timestamp, log: Logger
    ) {
        self.setup = setup
        self.authenticator = authenticator
        self.limiter = limiter
        self.makeNonce = makeNonce
        self.now = now
        self.log = log
        noIssuer = OccasionalWarning("a JWS is asked for, and no issuer ID is configured for the app", log: log)
    }

    /// `POST /offer` and `GET /offer`.
    package func answerSample(_ request: IncomingRequest) throws(Problem) -> Answer {
        let admission = try admit(request)
        let offer = try sign(RequestMembers.read(request), spelling: .sample, for: admission)
        return Answer(body: offer.sampleBody(namesCustomer: admission.requester.customer != nil))
    }

    /// `POST /v1/promotional-offers`: one offer, or a list of them that shares the admission.
    package func answerV1(_ request: IncomingRequest) throws(Problem) -> Answer {
        let admission = try admit(request)
        let members = try RequestMembers.read(request)
        guard let items = try OfferList.items(in: members) else {
            return Answer(body: try sign(members, spelling: .v1, for: admission).v1Body)
        }
        return Answer(body: OfferList.body(sign(items, for: admission)))
    }

    private func sign(_ items: [JSONValue], for admission: Admission) -> [Result<SignedOffer, Problem>] {
        var admission = admission
        return items.enumerated().map { index, item in
            do throws(Problem) {
                let members = try OfferList.members(of: item, at: index)
                return .success(try sign(members, spelling: .v1, for: admission))
            } catch {
                log.debug("offer of a list refused", metadata: ["code": "\(error.code.rawValue)"])
                // A key that met a fault signs nothing else in the list either.
                admission.setup.ring.keepOutOfService(whatIsOutOfServiceIn: setup.snapshot.ring)
                return .failure(error)
            }
        }
    }

    /// Signs an offer that nobody has to authenticate for: one from the command line.
    package func sign(_ offer: OfferRequest) throws(Problem) -> SignedOffer {
        try sign(offer, for: Admission(requester: .anyone, setup: setup.snapshot))
    }

    /// Who asks, and the setup that their whole request is held to.
    struct Admission {
        let requester: Requester
        var setup: Setup
    }

    /// Snapshot of the setup → requester → their limit.
    func admit(_ request: IncomingRequest) throws(Problem) -> Admission {
        guard !request.isLate else { throw .overloaded }
        let setup = setup.snapshot
        let requester = try authenticator.requester(of: request, under: setup, needing: .sign)
        try limiter.admit(requester, under: setup.limits)
        return Admission(requester: requester, setup: setup)
    }

    /// Fields → app → their customer's limit → offer.
    private func sign(
        _ members: JSONObject, spelling: OfferRequest.Spelling, for admission: Admission
    ) throws(Problem) -> SignedOffer {
        let offer = try OfferRequest(members, spelling: spelling, user: admission.requester.customer)
        try requireApp(of: offer.item, for: admission)
        try limiter.admit(offer, from: admission.requester, under: admission.setup.limits)
        return try sign(offer, for: admission)
    }

    /// Catalogue → key → payload → signature → verification → JWS.
    private func sign(_ offer: OfferRequest, for admission: Admission) throws(Problem) -> SignedOffer {
        try requireInCatalogue(offer.item, for: admission)
        let key = try signingKey(for: offer.item, admission)
        let payload = OfferPayload(
            appBundleID: offer.appBundleID,
            keyID: key.id,
            productIdentifier: offer.productIdentifier,
            offerID: offer.offerID,
            customer: offer.customer,
            nonce: makeNonce(),
            timestamp: now()
        )
        let signature: OfferSignature
        do { signature = try key.pair.signature(for: payload) } catch { throw report(error, of: key.id) }
        log.debug("offer signed", metadata: ["keyID": "\(key.id)", "offerID": "\(offer.offerID.text)"])
        let jws = try jws(for: offer, key: key, at: payload.timestamp, admission)
        return SignedOffer(payload: payload, signature: signature, jws: jws)
    }

    // MARK: Refusals

    func requireApp(of item: CatalogueItem, for admission: Admission) throws(Problem) {
        guard let apps = admission.requester.apps, !apps.contains(item.app) else { return }
        throw refuse(item, because: "the caller may not sign for this app", for: admission.requester)
    }

    func requireInCatalogue(_ item: CatalogueItem, for admission: Admission) throws(Problem) {
        guard let catalogue = admission.setup.catalogue else { return }
        do { try catalogue.require(item) } catch {
            let hint = CatalogueHint.hint(for: error, item, in: catalogue)
            throw refuse(item, because: "\(error)" + (hint.map { ": \($0)" } ?? ""), for: admission.requester)
        }
    }

    func signingKey(for item: CatalogueItem, _ admission: Admission) throws(Problem) -> KeyRing.Key {
        do { return try admission.setup.ring.signingKey(for: item.app) } catch {
            switch error {
            case .noKey: throw refuse(item, because: "no key is chosen for this app", for: admission.requester)
            case .unknown, .exists, .activeKey, .retired, .outOfService: throw .signingUnavailable
            }
        }
    }

    /// The caller hears the same of every reason, so that nobody finds out by asking what there is; the log hears which.
    private func refuse(_ item: CatalogueItem, because reason: String, for requester: Requester) -> Problem {
        log.notice(
            "offer not served",
            metadata: [
                "reason": "\(reason)", "app": "\(item.app.text)",
                "product": "\(item.product?.text.description ?? "-")",
                "offer": "\(item.offer?.text.description ?? "-")", "caller": "\(requester.name)",
            ])
        return .offerNotServed
    }

    /// A fault of the key: the log gets all of it, the caller only that there is no signature.
    func report(_ fault: SigningFault, of id: KeyID) -> Problem {
        switch fault {
        case .signatureRefused:
            setup.takeOutOfService(id)
            log.critical(
                """
                ALARM: a signature did not verify with its own public key. It was not sent, and the key signs no more. \
                Suspect memory, processor or libcrypto; restart on another machine.
                """,
                metadata: ["keyID": "\(id)"])
        case .signingFailed(let error):
            log.error("signing failed", metadata: ["keyID": "\(id)", "reason": "\(error)"])
        case .verificationFailed(let error):
            log.error("verifying failed", metadata: ["keyID": "\(id)", "reason": "\(error)"])
        }
        return .signingUnavailable
    }
}
