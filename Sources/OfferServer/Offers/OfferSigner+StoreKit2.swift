import Logging
import OfferCore

/// What is signed as a JWS and in no other form.
extension OfferSigner {
    /// `POST /v1/introductory-offers`.
    package func answerIntroductoryOffer(_ request: IncomingRequest) throws(Problem) -> Answer {
        let admission = try admitForDecision(request)
        let asked = try IntroductoryOfferRequest(RequestMembers.read(request))
        try limiter.admit(asked.transactionID, of: asked.bundleID, under: admission.setup.limits, admission.context)
        let jws = try sign(
            .introductoryOfferEligibility(
                asked.productID, allowed: asked.allowIntroductoryOffer, asked.transactionID),
            of: CatalogueItem(app: asked.bundleID, product: asked.productID), for: admission)
        return try answer(asked.body(jws), recording: [jws.entry(for: admission)])
    }

    /// `POST /v1/advanced-commerce`.
    package func answerAdvancedCommerce(_ request: IncomingRequest) throws(Problem) -> Answer {
        let admission = try admitForDecision(request)
        let asked = try AdvancedCommerceRequest(RequestMembers.read(request), body: request.body)
        let jws = try sign(
            .advancedCommerce(asked.request), of: CatalogueItem(app: asked.bundleID), for: admission)
        return try answer(asked.body(jws), recording: [jws.entry(for: admission)])
    }

    /// Users are not admitted: whether somebody gets an introductory offer, or what they pay for what, is not theirs to
    /// decide.
    private func admitForDecision(_ request: IncomingRequest) throws(Problem) -> Admission {
        let admission = try admit(request)
        if case .user = admission.requester { throw .notForUsers }
        return admission
    }

    private func sign(
        _ request: AppStoreRequest, of item: CatalogueItem, for admission: Admission
    ) throws(Problem) -> CompactJWS {
        do throws(Problem) { return try signServed(request, of: item, for: admission) } catch {
            note(error, of: request.kind, item, customer: request.transactionID?.text.utf8, for: admission)
            throw error
        }
    }

    /// App → catalogue → issuer → key → JWS.
    private func signServed(
        _ request: AppStoreRequest, of item: CatalogueItem, for admission: Admission
    ) throws(Problem) -> CompactJWS {
        try requireApp(of: item, for: admission)
        try requireInCatalogue(item, for: admission)
        guard let issuerID = admission.setup.issuerIDs[item.app] else {
            noIssuer.warn(
                admission.context.metadata(["app": "\(item.app.text)", "hint": "set \(Variable.issuerID.rawValue)"]))
            throw .issuerIDMissing
        }
        let key = try signingKey(for: item, admission)
        return try jws(request, app: item.app, issuerID: issuerID, key: key, at: timestamp(), admission)
    }

    /// The JWS that goes with the signature of a promotional offer.
    func jws(
        for offer: OfferRequest, key: KeyRing.Key, at now: Timestamp, _ admission: Admission
    ) throws(Problem) -> OfferJWS {
        guard offer.wantsJWS else { return .notWanted }
        if case .user = admission.requester { return .missing(.callersToken) }
        let setup = admission.setup
        let issuerID = setup.issuerIDs[offer.appBundleID]
        var gaps: OfferJWS.Gaps = issuerID == nil ? .issuerID : []
        if offer.transactionID == nil, setup.catalogue?.apps[offer.appBundleID]?.allowsUnboundJWS != true {
            gaps.insert(.transactionID)
        }
        guard gaps.isEmpty, let issuerID else { return .missing(gaps) }
        let made = try jws(
            .promotionalOffer(offer.productIdentifier, offer.offerID, offer.transactionID), app: offer.appBundleID,
            issuerID: issuerID, key: key, at: now, admission)
        if offer.transactionID == nil { metrics.signedUnbound(for: offer.appBundleID) }
        return .made(made)
    }

    /// Claims → signature → both read again from the text that is sent.
    private func jws(
        _ request: AppStoreRequest, app: BundleID, issuerID: IssuerID, key: KeyRing.Key, at now: Timestamp,
        _ admission: Admission
    ) throws(Problem) -> CompactJWS {
        let unsigned = UnsignedJWS(
            keyID: key.id, issuerID: issuerID, issuedAtSeconds: now.milliseconds / 1000, bundleID: app,
            nonce: makeNonce(), request: request)
        do {
            var stopwatch = SigningStopwatch(metrics)
            let jws = try key.pair.compactJWS(for: unsigned) { stopwatch.note($0) }
            metrics.signed(request.kind, for: app, with: key.id, under: admission.setup)
            log.debug(
                "JWS signed",
                metadata: admission.context.metadata(["keyID": "\(key.id)", "aud": "\(request.audience)"]))
            return jws
        } catch {
            throw report(error, of: key.id, admission)
        }
    }
}
