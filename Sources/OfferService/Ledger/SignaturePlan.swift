import OfferCore
import OfferEligibility
import SubscriberStore

/// The signatures to make for one offer that a rule allows.
struct SignaturePlan: Sendable {
    let terms: OfferTerms
    /// The nonce of the V1 signature; nil if none is made, because it would not name the sandbox.
    let v1: Nonce?
    /// nil if no JWS is made.
    let jws: JWS?
    /// The timestamp of the signatures.
    let at: Timestamp
    /// The time at which the signatures free their slot.
    let expiresAt: Timestamp
    /// The time at which the last signature becomes worthless; nil if it is ``expiresAt``.
    var validUntil: Timestamp?

    struct JWS: Sendable {
        let nonce: Nonce
        let transactionID: TransactionID
    }

    /// The JWS comes first: it is bound to a transaction, and a V1 signature is not.
    var nonces: [Nonce] { [jws?.nonce, v1].compactMap(\.self) }

    /// The plan with its first form only.
    var withFirstForm: SignaturePlan {
        SignaturePlan(terms: terms, v1: jws == nil ? v1 : nil, jws: jws, at: at, expiresAt: expiresAt)
    }
}

/// A signature to reserve if the limits allow it, and its message.
struct RetentionPlan: Sendable {
    let plan: SignaturePlan
    let form: RetentionReservation.Form
}

extension OfferTerms {
    func item(of app: BundleID) -> CatalogueItem {
        CatalogueItem(app: app, product: productID, offer: offerID)
    }
}
