public import Foundation

/// A signed offer. Each of its signatures is valid for one purchase request, even if that request fails.
public struct SignedOffer: Hashable, Sendable {
    public let offer: Offer
    /// The identifier that was signed. The purchase must carry it.
    public let customer: OfferCustomer
    /// The plan with which the app must buy.
    public let billingPlan: BillingPlan?
    /// The signature for StoreKit 1 and for the older API of StoreKit 2.
    public let signature: OfferSignature?
    /// The signature for the API of StoreKit 2 that Xcode 26 introduced.
    public let compactJWS: String?
    /// What the service says is missing for a `compactJWS`, such as `transaction_id_missing`.
    public let compactJWSMissing: [String]
    /// The transaction that `compactJWS` is bound to.
    public let transactionID: String?
    /// The lifetime of `signature` when it was answered, by the service's clock alone; nil if the answer does not say.
    public let secondsValid: Int?
    /// The nonce in `compactJWS`, in lower case.
    let compactJWSNonce: String?

    /// The nonce of the form that StoreKit 2 gets, for events.
    var nonce: String? { compactJWSNonce ?? signature?.nonce }
}

/// The original form of a signature, of 2019.
public struct OfferSignature: Hashable, Sendable {
    public let keyID: String
    /// A UUID in lower case.
    public let nonce: String
    /// In milliseconds since 1970.
    public let timestamp: Int64
    /// DER in base64: the text that StoreKit 1 takes.
    public let base64: String
    /// The decoded DER: the data that StoreKit 2 takes.
    public let der: Data
    let nonceUUID: UUID
}

/// The form of signature to request.
struct SignatureForm: Hashable, Sendable {
    let path: String

    /// Both forms, as far as they can be made. StoreKit 2 takes the JWS if there is one.
    static let any = SignatureForm(path: "v1/promotional-offers")
    /// Only the original form. Under a limit, the other route might answer with a JWS alone, which StoreKit 1 cannot use.
    static let original = SignatureForm(path: "offer")
}
