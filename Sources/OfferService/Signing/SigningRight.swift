import Logging
import OfferConfiguration
import OfferCore
import OfferEligibility
import OfferHTTP
import OfferTelemetry

/// The right to sign one item for one request, together with its key.
///
/// Only ``OfferSigner/authorise(_:needsIssuerID:_:)`` grants it and, for an offer with a rule,
/// ``OfferSigner/authorise(_:_:)``. Nothing else in the service signs for a customer. A key also signs the tokens of
/// `TokenSource`, which are sent only to Apple. The right signs exactly the item that was checked: the signed fields
/// come from the right, not from the request.
struct SigningRight: Sendable {
    let item: CatalogueItem
    /// nil if no issuer ID is configured for the app.
    let issuerID: IssuerID?
    /// True if the app permits a JWS that is not bound to a transaction.
    let allowsUnboundJWS: Bool
    /// The billing plan of the offer, if one is configured.
    let billingPlan: BillingPlanType?
    private let key: KeyRing.Key

    var keyID: KeyID { key.id }

    /// True if the key is in a token.
    var isInToken: Bool { key.pair.threads != nil }

    fileprivate init(_ item: CatalogueItem, key: KeyRing.Key, policy: Policy) {
        self.item = item
        self.key = key
        issuerID = policy.issuerIDs[item.app]
        let app = policy.catalogue?.apps[item.app]
        allowsUnboundJWS = app?.allowsUnboundJWS == true
        billingPlan = item.product.flatMap { product in item.offer.flatMap { app?.billingPlan(of: product, $0) } }
    }

    /// Signs the promotional offer for a customer and verifies the signature.
    func signature(
        for customer: Customer, nonce: Nonce, timestamp: Timestamp, onStep: (SigningStep) -> Void
    ) throws(SigningFault) -> (OfferPayload, OfferSignature) {
        guard let product = item.product, let offer = item.offer else { throw .signingFailed(OtherItem()) }
        let payload = OfferPayload(
            appBundleID: item.app, keyID: key.id, productIdentifier: product, offerID: offer, customer: customer,
            nonce: nonce, timestamp: timestamp)
        return (payload, try key.pair.signature(for: payload, onStep: onStep))
    }

    /// Returns the payload that a signature would cover, for an offer that gets only a JWS.
    func payload(for reserved: ReservedOffer, _ customer: Customer) -> OfferPayload {
        let terms = reserved.plan.terms
        return OfferPayload(
            appBundleID: item.app, keyID: key.id, productIdentifier: terms.productID, offerID: terms.offerID,
            customer: customer, nonce: reserved.plan.nonces[0], timestamp: reserved.plan.at)
    }

    /// Signs a request to the App Store as a JWS and verifies it.
    /// - Parameter request: a request for this item.
    func compactJWS(
        for request: AppStoreRequest, nonce: Nonce, timestamp: Timestamp, onStep: (SigningStep) -> Void
    ) throws(SigningFault) -> CompactJWS {
        guard request.item(of: item.app) == item else { throw .signingFailed(OtherItem()) }
        guard let issuerID else { throw .signingFailed(NoIssuerID()) }
        let unsigned = UnsignedJWS(
            keyID: key.id, issuerID: issuerID, issuedAtSeconds: timestamp.milliseconds / 1000, bundleID: item.app,
            nonce: nonce, request: request)
        return try key.pair.compactJWS(for: unsigned, onStep: onStep)
    }

    private struct NoIssuerID: Error, CustomStringConvertible {
        let description = "the right to sign includes no issuer ID"
    }

    /// The error for a right that is for another item.
    private struct OtherItem: Error, CustomStringConvertible {
        let description = "the right to sign is for another item"
    }
}

extension OfferSigner {
    /// Checks the app, the catalogue, the issuer ID and the key, in this order, and grants the right to sign.
    /// - Parameter needsIssuerID: true to refuse an app without an issuer ID.
    func authorise(
        _ item: CatalogueItem, needsIssuerID: Bool = false, _ admission: Admission
    ) throws(Problem) -> SigningRight {
        try requireApp(of: item, admission)
        try requireInCatalogue(item, admission)
        if needsIssuerID, admission.policy.issuerIDs[item.app] == nil {
            warnOfMissingIssuerID(of: item.app, admission.context)
            throw .issuerIDMissing
        }
        return SigningRight(item, key: try signingKey(for: item, admission), policy: admission.policy)
    }

    /// Grants the right to sign an offer with a rule whose signatures are reserved.
    func authorise(_ reserved: ReservedOffer, _ admission: Admission) throws(Problem) -> SigningRight {
        let item = reserved.item
        try requireSignable(item, admission)
        return SigningRight(item, key: try signingKey(for: item, admission), policy: admission.policy)
    }

    /// Checks the preconditions of a reservation for an offer with a rule.
    func requireSignable(_ item: CatalogueItem, _ admission: Admission) throws(Problem) {
        try requireReady()
        try requireApp(of: item, admission)
        try requireListed(item, admission)
        _ = try signingKey(for: item, admission)
    }

    /// Checks that the principal may sign for this app.
    func requireApp(of item: CatalogueItem, _ admission: Admission) throws(Problem) {
        guard !admission.mayUse(item.app) else { return }
        throw refuse(item, because: "the caller may not sign for this app", admission)
    }

    private func requireInCatalogue(_ item: CatalogueItem, _ admission: Admission) throws(Problem) {
        guard let catalogue = admission.policy.catalogue else { return }
        if let product = item.product, let offer = item.offer,
            catalogue.apps[item.app]?.rules.terms(of: product, offer) != nil
        {
            throw refuse(item, because: "the offer has a rule, so it is signed only after a decision", admission)
        }
        try requireListed(item, admission)
        if let product = item.product, let offer = item.offer,
            catalogue.apps[item.app]?.isUnavailable(product, offer) == true
        {
            throw .notEligible(
                [DecisionReason(.offerUnavailable)], showsDetails: admission.principal.showsDetails)
        }
    }

    private func requireListed(_ item: CatalogueItem, _ admission: Admission) throws(Problem) {
        guard let catalogue = admission.policy.catalogue else { return }
        do { try catalogue.require(item) } catch {
            throw refuse(
                item,
                because: "\(error)" + (CatalogueHint.hint(for: error, item, in: catalogue).map { ": \($0)" } ?? ""),
                admission)
        }
    }

    private func signingKey(for item: CatalogueItem, _ admission: Admission) throws(Problem) -> KeyRing.Key {
        do { return try admission.policy.ring.signingKey(for: item.app) } catch {
            switch error {
            case .noKey: throw refuse(item, because: "no key is chosen for this app", admission)
            case .unknown, .exists, .activeKey, .retired, .outOfService: throw .signingUnavailable
            }
        }
    }

    /// Requests a log line with the reason an item is refused, and returns the problem. Neither the problem nor its
    /// timing depends on the reason, so no one can probe for existing items.
    private func refuse(
        _ item: CatalogueItem, because reason: @autoclosure @escaping @Sendable () -> String, _ admission: Admission
    ) -> Problem {
        refusals.offerNotServed(item, to: admission.principal, admission.context, because: reason)
        return .offerNotServed
    }
}
