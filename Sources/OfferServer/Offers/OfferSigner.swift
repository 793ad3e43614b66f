package import Logging
package import OfferCore

/// The path of one offer, from the bytes of the request to the bytes of the answer.
///
/// It is synchronous and knows no framework, no socket and no clock of its own, so it can be tested, fuzzed and timed
/// by itself.
package struct OfferSigner: Sendable {
    private let setup: CurrentSetup
    private let authenticator: Authenticator
    private let limiter: Limiter
    private let makeNonce: @Sendable () -> Nonce
    private let now: @Sendable () -> Timestamp
    private let log: Logger

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
    }

    /// `POST /offer` and `GET /offer`.
    package func answerSample(_ request: IncomingRequest) throws(Problem) -> Answer {
        let (offer, requester) = try sign(request, spelling: .sample)
        return Answer(body: offer.sampleBody(namesCustomer: requester.customer != nil))
    }

    /// `POST /v1/promotional-offers`.
    package func answerV1(_ request: IncomingRequest) throws(Problem) -> Answer {
        Answer(body: try sign(request, spelling: .v1).offer.v1Body)
    }

    /// Snapshot of the setup → requester → their limit → fields → their customer's limit → offer.
    private func sign(
        _ request: IncomingRequest, spelling: OfferRequest.Spelling
    ) throws(Problem) -> (offer: SignedOffer, requester: Requester) {
        guard !request.isLate else { throw .overloaded }
        let setup = setup.snapshot
        let requester = try authenticator.requester(of: request, under: setup, needing: .sign)
        try limiter.admit(requester, under: setup.limits)
        let offer = try OfferRequest(RequestMembers.read(request), spelling: spelling, user: requester.customer)
        if let apps = requester.apps, !apps.contains(offer.appBundleID) {
            throw refuse(offer, because: "the caller may not sign for this app", for: requester)
        }
        try limiter.admit(offer, from: requester, under: setup.limits)
        return (try sign(offer, under: setup, for: requester), requester)
    }

    /// Signs an offer that nobody has to authenticate for: one from the command line.
    package func sign(_ offer: OfferRequest) throws(Problem) -> SignedOffer {
        try sign(offer, under: setup.snapshot, for: .anyone)
    }

    /// Catalogue → key → payload → signature → verification.
    private func sign(
        _ offer: OfferRequest, under setup: Setup, for requester: Requester
    ) throws(Problem) -> SignedOffer {
        try require(offer, in: setup.catalogue, for: requester)
        let key = try signingKey(for: offer, in: setup.ring, for: requester)
        let payload = OfferPayload(
            appBundleID: offer.appBundleID,
            keyID: key.id,
            productIdentifier: offer.productIdentifier,
            offerID: offer.offerID,
            customer: offer.customer,
            nonce: makeNonce(),
            timestamp: now()
        )
        do {
            let signature = try key.pair.signature(for: payload)
            log.debug("offer signed", metadata: ["keyID": "\(key.id)", "offerID": "\(offer.offerID.text)"])
            return SignedOffer(payload: payload, signature: signature)
        } catch {
            throw report(error, of: key.id)
        }
    }

    private func require(
        _ offer: OfferRequest, in catalogue: Catalogue?, for requester: Requester
    ) throws(Problem) {
        guard let catalogue else { return }
        do { try catalogue.require(offer.offerID, of: offer.productIdentifier, in: offer.appBundleID) } catch {
            let hint = CatalogueHint.hint(
                for: error, offer: offer.offerID, product: offer.productIdentifier, app: offer.appBundleID,
                in: catalogue)
            throw refuse(offer, because: "\(error)" + (hint.map { ": \($0)" } ?? ""), for: requester)
        }
    }

    private func signingKey(
        for offer: OfferRequest, in ring: KeyRing, for requester: Requester
    ) throws(Problem) -> KeyRing.Key {
        do { return try ring.signingKey(for: offer.appBundleID) } catch {
            switch error {
            case .noKey: throw refuse(offer, because: "no key is chosen for this app", for: requester)
            case .unknown, .exists, .activeKey, .retired, .outOfService: throw .signingUnavailable
            }
        }
    }

    /// The caller hears the same of every reason, so that nobody finds out by asking what there is; the log hears which.
    private func refuse(_ offer: OfferRequest, because reason: String, for requester: Requester) -> Problem {
        log.notice(
            "offer not served",
            metadata: [
                "reason": "\(reason)", "app": "\(offer.appBundleID.text)", "product": "\(offer.productIdentifier.text)",
                "offer": "\(offer.offerID.text)", "caller": "\(requester.name)",
            ])
        return .offerNotServed
    }

    /// A fault of the key: the log gets all of it, the caller only that there is no signature.
    private func report(_ fault: SigningFault, of id: KeyID) -> Problem {
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
