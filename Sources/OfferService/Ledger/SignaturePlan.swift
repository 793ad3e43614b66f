import OfferCore
import OfferEligibility
import SubscriberStore

/// The signatures to make for one offer that a rule allows.
struct SignaturePlan: Sendable {
    let terms: OfferTerms
    /// The customer's places in the samples of the rule.
    let places: [SamplePlace]
    /// The nonce of the V1 signature; nil if none is made.
    let v1: Nonce?
    /// nil if no JWS is made.
    let jws: JWS?
    /// The timestamp of the signatures.
    let at: Timestamp
    /// The time at which the signatures free their slot.
    let expiresAt: Timestamp
    /// The time at which the last signature becomes invalid; nil if it is ``expiresAt``.
    var validUntil: Timestamp?

    struct JWS: Sendable {
        let nonce: Nonce
        let transactionID: TransactionID
    }

    /// The nonces of the signatures. The JWS comes first, because it is bound to a transaction, unlike a V1 signature.
    var nonces: [Nonce] { [jws?.nonce, v1].compactMap(\.self) }

    /// A copy of the plan with only its first signature.
    var withFirstForm: SignaturePlan {
        SignaturePlan(
            terms: terms, places: places, v1: jws == nil ? v1 : nil, jws: jws, at: at, expiresAt: expiresAt)
    }
}

/// A signature to reserve if the limits allow it, and its message.
struct RetentionPlan: Sendable {
    let plan: SignaturePlan
    /// The place of the case in the configuration; nil for a granted offer without a case.
    let caseNumber: Int64?
    let form: RetentionReservation.Form
}

extension OfferTerms {
    func item(of app: BundleID) -> CatalogueItem {
        CatalogueItem(app: app, product: productID, offer: offerID)
    }
}
