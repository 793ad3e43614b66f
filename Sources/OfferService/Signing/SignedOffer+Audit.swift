import OfferAudit
import OfferCore
import OfferEligibility
import OfferHTTP

// Each signature has a separate entry in the audit trail, because each can be used independently.

extension SignedOffer {
    func entries(for admission: Admission) -> [AuditEntry] {
        let ofJWS = if case .made(let jws) = jws { [jws.entry(for: admission, decision)] } else { [AuditEntry]() }
        guard signature != nil else { return ofJWS }
        let entry = AuditEntry(
            time: payload.timestamp, requestID: admission.context.id.text, client: admission.client,
            kind: .promotionalOffer,
            item: CatalogueItem(
                app: payload.appBundleID, product: payload.productIdentifier, offer: payload.offerID),
            customer: payload.customer.utf8, decision: decision, outcome: .signed(payload.keyID, payload.nonce))
        return [entry] + ofJWS
    }
}

extension CompactJWS {
    /// - Parameter decision: nil if no decision was made.
    func entry(for admission: Admission, _ decision: SignedDecision? = nil) -> AuditEntry {
        AuditEntry(
            time: Timestamp(milliseconds: content.issuedAtSeconds * 1000), requestID: admission.context.id.text,
            client: admission.client, kind: content.request.kind, item: content.request.item(of: content.bundleID),
            grant: content.request.grant, customer: content.request.transactionID?.text.utf8,
            decision: decision, outcome: .signed(content.keyID, content.nonce))
    }
}

extension Admission {
    /// The client as recorded in the audit trail.
    var client: AuditEntry.Client {
        var tokenDigest: [UInt8]?
        if case .token(let caller) = principal { tokenDigest = caller.tokenDigest }
        return AuditEntry.Client(name: principal.name, tokenDigest: tokenDigest, address: address)
    }
}

extension AppStoreRequest {
    /// The grant of the request; nil if the item already implies it.
    var grant: AuditEntry.Grant? {
        switch self {
        case .promotionalOffer: nil
        case .introductoryOfferEligibility(_, let isAllowed, _): .introductoryOffer(isAllowed: isAllowed)
        case .advancedCommerce(let request): .advancedCommerce(request)
        }
    }

    /// Returns the catalogue item that the request is about.
    func item(of app: BundleID) -> CatalogueItem {
        switch self {
        case .promotionalOffer(let product, let offer, _): CatalogueItem(app: app, product: product, offer: offer)
        case .introductoryOfferEligibility(let product, _, _): CatalogueItem(app: app, product: product)
        case .advancedCommerce: CatalogueItem(app: app)
        }
    }
}
