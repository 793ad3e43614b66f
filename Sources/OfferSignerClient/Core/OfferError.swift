/// A failure of the client, of the service or of StoreKit.
///
/// The texts are for developers. Show customers your own.
public struct OfferError: Error, Hashable, Sendable, CustomStringConvertible {
    public let code: Code
    public let detail: String
    /// The status of the service's answer.
    public internal(set) var status: Int?
    /// The request's field at fault.
    public internal(set) var field: String?
    /// Why the customer may not have the offer, with ``Code/notEligible``.
    public internal(set) var reasons: [RefusalReason] = []
    /// The seconds after which the service can be asked again.
    public internal(set) var retryAfter: Int?
    /// The request's ID in the service's log.
    public internal(set) var requestID: String?
    /// The name of StoreKit's error, such as `ineligibleForOffer`.
    public internal(set) var storeKitError: String?
    /// Why the signature does not verify, with ``Code/signatureRejected``; nil if the service did not explain it.
    public internal(set) var explanation: OfferExplanation?

    init(_ code: Code, _ detail: String) {
        self.code = code
        self.detail = detail
    }

    public var description: String {
        let cause = explanation?.cause.map { " (\($0.rawValue))" } ?? ""
        let request = requestID.map { " [request \($0)]" } ?? ""
        return "\(code.rawValue)\(cause): \(detail)\(request)"
    }
}

extension OfferError {
    /// The problem: a code of the client, or a problem code of the service as docs/api.md lists them.
    ///
    /// Later versions add codes, so handle the ones you can act on and treat the others alike.
    public struct Code: RawRepresentable, Hashable, Sendable {
        public let rawValue: String
        public init(rawValue: String) { self.rawValue = rawValue }
    }
}

// MARK: Codes of the client

extension OfferError.Code {
    /// No answer arrived. Whether a signature was reserved is unknown, so the next attempt repeats the same request.
    public static let noAnswer = Self(rawValue: "no_answer")
    /// The server's identity could not be verified.
    public static let notSecure = Self(rawValue: "not_secure")
    /// The answer is not one of the service's.
    public static let unreadableAnswer = Self(rawValue: "unreadable_answer")
    /// The app's closure for tokens threw an error.
    public static let noToken = Self(rawValue: "no_token")
    /// No customer is signed in, or the customer signed out during the request.
    public static let signedOut = Self(rawValue: "signed_out")
    /// The offer was fetched for another customer.
    public static let anotherSession = Self(rawValue: "another_session")
    /// A purchase of this offer is in progress, as after a double tap.
    public static let inProgress = Self(rawValue: "in_progress")
    public static let cancelled = Self(rawValue: "cancelled")
    /// The server has only the route of Apple's sample.
    public static let notSupported = Self(rawValue: "not_supported")
    /// The product is not the one that the offer is for.
    public static let anotherProduct = Self(rawValue: "another_product")
    /// StoreKit cannot buy with the plan that the offer needs.
    public static let billingPlanUnavailable = Self(rawValue: "billing_plan_unavailable")
    /// The answer has no form of signature that this StoreKit can use.
    public static let noUsableSignature = Self(rawValue: "no_usable_signature")
    /// StoreKit rejected the signature.
    public static let signatureRejected = Self(rawValue: "signature_rejected")
    /// StoreKit failed for another reason.
    public static let purchaseFailed = Self(rawValue: "purchase_failed")
}

// MARK: Codes of the service that an app can act on

extension OfferError.Code {
    public static let notEligible = Self(rawValue: "not_eligible")
    public static let offerNotServed = Self(rawValue: "offer_not_served")
    public static let credentialsMissing = Self(rawValue: "credentials_missing")
    public static let credentialsRefused = Self(rawValue: "credentials_refused")
    public static let rateLimited = Self(rawValue: "rate_limited")
    public static let overloaded = Self(rawValue: "overloaded")
    public static let storeUnavailable = Self(rawValue: "store_unavailable")
}
