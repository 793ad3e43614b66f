package import Logging
package import OfferCore

/// The path of one offer, from the bytes of the request to the bytes of the answer.
///
/// It is synchronous and knows no framework, no socket and no clock of its own, so it can be tested, fuzzed and timed
/// by itself.
package struct OfferSigner: Sendable {
    private let ring: CurrentKeyRing
    private let makeNonce: @Sendable () -> Nonce
    private let now: @Sendable () -> Timestamp
    private let log: Logger

    package init(
        ring: CurrentKeyRing, makeNonce: @escaping @Sendable () -> Nonce, now: @escaping @Sendable () -> Timestamp,
        log: Logger
    ) {
        self.ring = ring
        self.makeNonce = makeNonce
        self.now = now
        self.log = log
    }

    /// `POST /offer` and `GET /offer`.
    package func answerSample(_ request: IncomingRequest) throws(Problem) -> Answer {
        let offer = try OfferRequest(RequestMembers.read(request), spelling: .sample)
        return Answer(body: try sign(offer).sampleBody)
    }

    /// `POST /v1/promotional-offers`.
    package func answerV1(_ request: IncomingRequest) throws(Problem) -> Answer {
        let offer = try OfferRequest(RequestMembers.read(request), spelling: .v1)
        return Answer(body: try sign(offer).v1Body)
    }

    /// Snapshot of the ring → payload → signature → verification.
    package func sign(_ offer: OfferRequest) throws(Problem) -> SignedOffer {
        let key = try signingKey(for: offer.appBundleID)
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

    private func signingKey(for app: BundleID) throws(Problem) -> KeyRing.Key {
        do { return try ring.snapshot.signingKey(for: app) } catch {
            switch error {
            case .noKey: throw .appNotServed
            case .unknown, .exists, .activeKey, .retired, .outOfService: throw .signingUnavailable
            }
        }
    }

    /// A fault of the key: the log gets all of it, the caller only that there is no signature.
    private func report(_ fault: SigningFault, of id: KeyID) -> Problem {
        switch fault {
        case .signatureRefused:
            ring.takeOutOfService(id)
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
