import OfferAudit
import OfferCore
import OfferHTTP

// Each signature has its own entry in the audit trail, because each can be used independently.

extension SignedOffer {
    func entries(for admission: Admission) -> [AuditEntry] {
        let entry = AuditEntry(
            time: payload.timestamp, requestID: admission.context.id.text, caller: admission.principal.name,
            kind: .promotionalOffer,
            item: CatalogueItem(
                app: payload.appBundleID, product: payload.productIdentifier, offer: payload.offerID),
            customer: payload.customer.utf8, outcome: .signed(payload.keyID, payload.nonce))
        guard case .made(let jws) = jws else { return [entry] }
        return [entry, jws.entry(for: admission)]
    }
}

extension CompactJWS {
    func entry(for admission: Admission) -> AuditEntry {
        AuditEntry(
            time: Timestamp(milliseconds: content.issuedAtSeconds * 1000), requestID: admission.context.id.text,
            caller: admission.principal.name, kind: content.request.kind,
            item: content.request.item(of: content.bundleID), customer: content.request.transactionID?.text.utf8,
            outcome: .signed(content.keyID, content.nonce))
    }
}

extension AppStoreRequest {
    /// The catalogue item that the request is about.
    func item(of app: BundleID) -> CatalogueItem {
        switch self {
        case .promotionalOffer(let product, let offer, _): CatalogueItem(app: app, product: product, offer: offer)
        case .introductoryOfferEligibility(let product, _, _): CatalogueItem(app: app, product: product)
        case .advancedCommerce: CatalogueItem(app: app)
        }
    }
}
