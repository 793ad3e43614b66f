import Logging
import OfferAudit
import OfferConfiguration
package import OfferCore
import OfferEligibility
import OfferHTTP
import OfferTelemetry

/// The signing path: from an authorised item to a signature that is verified and recorded.
///
/// ```
/// requireReady ─▶ authorise ─▶ sign ─▶ verify ─▶ record
///                     └ SigningRight: the only access to a key
/// ```
///
/// It knows neither HTTP nor the store, and is synchronous. Keys in tokens sign on threads of their own: see
/// ``whereKeySigns(for:_:isWanted:_:)``.
package struct OfferSigner: Sendable {
    let policy: CurrentPolicy
    let sources: SystemInputs
    let metrics: ServiceMetrics
    let refusals: RefusalLog
    let keyHealth: KeyHealth
    private let safeguards: Safeguards
    private let log: Logger
    private let missingIssuerWarning: ThrottledWarning
    /// The limit on requests that wait for threads of keys in lanes which they share with others, so that a slow token leaves room
    /// there.
    let waitersInSharedLanes = LaneLimit(32)

    init(
        policy: CurrentPolicy, keyHealth: KeyHealth, safeguards: Safeguards, sources: SystemInputs,
        metrics: ServiceMetrics, refusals: RefusalLog, log: Logger
    ) {
        self.policy = policy
        self.keyHealth = keyHealth
        self.safeguards = safeguards
        self.sources = sources
        self.metrics = metrics
        self.refusals = refusals
        self.log = log
        missingIssuerWarning = ThrottledWarning(
            "a JWS was requested for an app without an issuer ID", log: log)
    }

    // MARK: Preconditions

    /// Throws a problem if the self-test has failed or the audit trail cannot be written.
    func requireReady() throws(Problem) {
        guard safeguards.selfTest?.holds != false else { throw .signingUnavailable }
        guard safeguards.trail?.fault == nil else { throw .auditUnavailable }
    }

    /// Returns the timestamp for a signature, which must not be before ``Safeguards/earliest``.
    func timestamp() throws(Problem) -> Timestamp {
        let now = sources.now()
        guard now >= safeguards.earliest else { throw .clockWrong }
        return now
    }

    /// Returns the admission without the keys that have since been taken out of service.
    func excludingFaultyKeys(from admission: Admission) -> Admission {
        var admission = admission
        admission.policy = admission.policy.mergingOutOfService(from: policy.snapshot.ring)
        return admission
    }

    func warnOfMissingIssuerID(of app: BundleID, _ context: RequestContext) {
        missingIssuerWarning.warn(
            context.metadata(["app": "\(app.text)", "hint": "set \(Settings.issuerID.variable)"]))
    }

    // MARK: Promotional offers

    /// Authorises and signs an offer without a rule, and makes its JWS.
    func sign(_ offer: OfferRequest, _ admission: Admission) throws(Problem) -> SignedOffer {
        let right = try authorise(offer.item, admission)
        let time = try timestamp()
        let (payload, signature) = try makeSignature(
            for: offer.customer, right, nonce: sources.makeNonce(), at: time, admission)
        return SignedOffer(
            payload: payload, signature: signature, jws: try makeJWS(for: offer, right, at: time, admission),
            billingPlan: right.billingPlan)
    }

    /// Signs a reserved offer.
    /// - Parameter jws: the result for an offer without a planned JWS.
    func sign(
        _ reserved: ReservedOffer, for customer: EvaluatedCustomer, jws: OfferJWS, _ admission: Admission
    ) throws(Problem) -> SignedOffer {
        let right = try authorise(reserved, admission)
        let plan = reserved.plan
        guard let customer = customer.signed else { throw .signingUnavailable }
        var jws = jws
        var (payload, signature): (OfferPayload, OfferSignature?)
        if let nonce = plan.v1 {
            (payload, signature) = try makeSignature(for: customer, right, nonce: nonce, at: plan.at, admission)
        } else {
            (payload, signature) = (right.payload(for: reserved, customer), nil)
        }
        if let planned = plan.jws {
            let request = AppStoreRequest.promotionalOffer(
                plan.terms.productID, plan.terms.offerID, planned.transactionID)
            jws = .made(try makeJWS(request, right, nonce: planned.nonce, at: plan.at, admission))
        }
        return SignedOffer(
            payload: payload, signature: signature, jws: jws, decision: reserved.decision,
            billingPlan: right.billingPlan)
    }

    private func makeSignature(
        for customer: Customer, _ right: SigningRight, nonce: Nonce, at time: Timestamp, _ admission: Admission
    ) throws(Problem) -> (OfferPayload, OfferSignature) {
        let signed = try reportingFaults(of: right, admission) { () throws(SigningFault) in
            var timer = SigningTimer(metrics, isInToken: right.isInToken)
            return try right.signature(for: customer, nonce: nonce, timestamp: time) { timer.note($0) }
        }
        metrics.signed(
            .promotionalOffer, for: right.item.app, with: right.keyID, at: time, under: admission.policy)
        log.debug(
            "offer signed",
            metadata: admission.context.metadata([
                "keyID": "\(right.keyID)", "offerID": "\(signed.0.offerID.text)",
            ]))
        return signed
    }

    /// `offer-signer sign`: signs an offer from the command line, without authentication.
    /// - Returns: the offer, and the commit of its audit entries, which must be durable before the offer is printed.
    package func signForCommand(_ offer: OfferRequest) throws(Problem) -> (offer: SignedOffer, commit: Commit?) {
        try requireReady()
        let admission = Admission(principal: .anyone, policy: policy.snapshot, context: RequestContext())
        let signed = try sign(offer, admission)
        return (signed, try commit(signed.entries(for: admission)))
    }

    // MARK: JWS

    /// Authorises a request that is signed only as a JWS, and makes the JWS.
    func sign(
        _ request: AppStoreRequest, of app: BundleID, _ admission: Admission
    ) throws(Problem) -> CompactJWS {
        let right = try authorise(request.item(of: app), needsIssuerID: true, admission)
        return try makeJWS(request, right, nonce: sources.makeNonce(), at: timestamp(), admission)
    }

    /// Makes the JWS that accompanies the signature of a promotional offer, or returns the reasons why it cannot be
    /// made.
    private func makeJWS(
        for offer: OfferRequest, _ right: SigningRight, at time: Timestamp, _ admission: Admission
    ) throws(Problem) -> OfferJWS {
        guard offer.wantsJWS else { return .notWanted }
        if case .user = admission.principal { return .missing(.callersToken) }
        var gaps: OfferJWS.Gaps = right.issuerID == nil ? .issuerID : []
        if offer.transactionID == nil, !right.allowsUnboundJWS { gaps.insert(.transactionID) }
        guard gaps.isEmpty else { return .missing(gaps) }
        let request = AppStoreRequest.promotionalOffer(offer.productIdentifier, offer.offerID, offer.transactionID)
        let jws = try makeJWS(request, right, nonce: sources.makeNonce(), at: time, admission)
        if offer.transactionID == nil { metrics.signedUnbound(for: offer.appBundleID) }
        return .made(jws)
    }

    private func makeJWS(
        _ request: AppStoreRequest, _ right: SigningRight, nonce: Nonce, at time: Timestamp, _ admission: Admission
    ) throws(Problem) -> CompactJWS {
        let jws = try reportingFaults(of: right, admission) { () throws(SigningFault) in
            var timer = SigningTimer(metrics, isInToken: right.isInToken)
            return try right.compactJWS(for: request, nonce: nonce, timestamp: time) { timer.note($0) }
        }
        metrics.signed(request.kind, for: right.item.app, with: right.keyID, at: time, under: admission.policy)
        log.debug(
            "JWS signed",
            metadata: admission.context.metadata(["keyID": "\(right.keyID)", "aud": "\(request.audience)"]))
        return jws
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
                    keyID, alarm: right.isInToken ? Self.alarmOfToken : Self.alarm, admission.context.metadata([:]))
            case .signingFailed(let error):
                keyHealth.note(
                    .cannotSign(error), of: keyID, onlyFirst: right.isInToken, admission.context.metadata([:]))
            case .verificationFailed(let error):
                keyHealth.note(.cannotVerify(error), of: keyID, admission.context.metadata([:]))
            }
            throw .signingUnavailable
        }
    }

    private static let alarm: Logger.Message = """
        ALARM: a signature did not verify with its own public key. It was not sent, and the key is out of service. Suspect \
        memory, processor or libcrypto; restart on another machine.
        """
    private static let alarmOfToken: Logger.Message = """
        ALARM: a signature from a token did not verify with the key's public half. It was not sent, and the key is out of \
        service. Suspect the token and its module, or what is between them; examine them before a restart.
        """

    // MARK: Audit trail

    /// Adds the entries of signatures to the audit trail.
    /// - Parameter entries: evaluated only if there is an audit trail.
    /// - Returns: the commit to wait for before the signatures are sent; nil if there is none.
    func commit(_ entries: @autoclosure () -> [AuditEntry]) throws(Problem) -> Commit? {
        guard let trail = safeguards.trail else { return nil }
        let entries = entries()
        guard !entries.isEmpty else { return nil }
        guard let commit = trail.add(entries) else { throw .auditUnavailable }
        return commit
    }

    /// Waits until the entries of signatures are durable, so that the signatures may be sent.
    func record(_ entries: @autoclosure () -> [AuditEntry]) async throws(Problem) {
        guard try await commit(entries())?.isDurable() ?? true else { throw .auditUnavailable }
    }

    /// Records that a well-formed request was not signed. Refusals by rate limits are left out, because their number is
    /// unbounded.
    func noteRefusal(
        _ problem: Problem, of kind: SignatureKind, _ item: CatalogueItem, grant: AuditEntry.Grant? = nil,
        customer: [UInt8]?, _ admission: Admission
    ) {
        guard problem.code != .rateLimited else { return }
        safeguards.trail?.note(
            AuditEntry(
                time: sources.now(), requestID: admission.context.id.text, client: admission.client, kind: kind,
                item: item, grant: grant, customer: customer, outcome: .refused(problem.code.rawValue)))
    }
}
