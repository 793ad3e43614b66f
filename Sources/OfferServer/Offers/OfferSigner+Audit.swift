import OfferCore

/// What the audit trail tells of what was signed: a line for each signature, for each can be used by itself.
extension SignedOffer {
    func entries(for admission: OfferSigner.Admission) -> [AuditEntry] {
        let entry = AuditEntry(
            time: payload.timestamp, requestID: admission.context.id.text, caller: admission.requester.name,
            kind: .promotionalOffer,
            item: CatalogueItem(
                app: payload.appBundleID, product: payload.productIdentifier, offer: payload.offerID),
            customer: payload.customer.utf8, outcome: .signed(payload.keyID, payload.nonce))
        guard case .made(let jws) = jws else { return [entry] }
        return [entry, jws.entry(for: admission)]
    }
}

extension CompactJWS {
    func entry(for admission: OfferSigner.Admission) -> AuditEntry {
        AuditEntry(
            time: Timestamp(milliseconds: content.issuedAtSeconds * 1000), requestID: admission.context.id.text,
            caller: admission.requester.name, kind: content.request.kind, item: content.item,
            customer: content.request.transactionID?.text.utf8, outcome: .signed(content.keyID, content.nonce))
    }
}

extension UnsignedJWS {
    fileprivate var item: CatalogueItem {
        switch request {
        case .promotionalOffer(let product, let offer, _): CatalogueItem(app: bundleID, product: product, offer: offer)
        case .introductoryOfferEligibility(let product, _, _): CatalogueItem(app: bundleID, product: product)
        case .advancedCommerce: CatalogueItem(app: bundleID)
        }
    }
}
