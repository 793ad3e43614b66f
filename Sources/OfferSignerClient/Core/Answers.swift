import Foundation

/// An answer that breaks a promise of docs/api.md. Using it would only fail later, at the App Store.
struct Malformed: Error {
    let what: String
}

/// The answer of `/v1/decisions`. Unknown members are ignored, because later versions add some.
struct DecisionAnswer: Decodable {
    struct Eligible: Decodable {
        let productID: String
        let offerID: String
        let billingPlanType: String?
    }

    struct Refused: Decodable {
        let productID: String
        let offerID: String
        let reasons: [Reason]
    }

    struct Reason: Decodable {
        let code: String
    }

    struct Link: Decodable {
        let campaign: String?
        let counts: Bool
        let code: String?
    }

    struct Instead: Decodable {
        let show: String
        let key: String?
        let text: String?
        let productID: String?
    }

    struct IntroductoryOffer: Decodable {
        let subscriptionGroupID: String
        let eligible: String
    }

    let environment: String
    let state: String?
    let link: Link?
    let instead: Instead?
    let introductoryOffers: [IntroductoryOffer]?
    let offers: [Eligible]
    let refused: [Refused]

    func list(placement: String?, session: UUID, link opened: URL? = nil) -> OfferList {
        // An offer with a rule that tests the link is signed only with the link.
        let counted = link?.counts == true ? opened : nil
        return OfferList(
            offers: offers.map {
                Offer(
                    productID: $0.productID, offerID: $0.offerID,
                    billingPlan: $0.billingPlanType.map(BillingPlan.init), placement: placement, link: counted,
                    session: session)
            },
            refused: refused.map {
                RefusedOffer(
                    productID: $0.productID, offerID: $0.offerID,
                    reasons: $0.reasons.map { RefusalReason(rawValue: $0.code) })
            }, environment: environment,
            link: link.map {
                LinkOutcome(campaign: $0.campaign, counts: $0.counts, reason: $0.code.map(LinkRefusal.init(rawValue:)))
            }, state: state.map(CustomerState.init(rawValue:)),
            alternative: instead.map {
                Alternative(
                    kind: Alternative.Kind(rawValue: $0.show), key: $0.key, text: $0.text, productID: $0.productID)
            },
            introductoryOffers: Dictionary(
                (introductoryOffers ?? []).map {
                    ($0.subscriptionGroupID, IntroductoryEligibility(rawValue: $0.eligible))
                }, uniquingKeysWith: { first, _ in first }))
    }
}

/// The answer of `/offer`: the members of Apple's sample, and the customer if only the service knows the identifier.
struct SampleAnswer: Decodable {
    let keyID: String
    let nonce: String
    let timestamp: Int64
    let signature: String
    let applicationUsername: String?
    let appAccountToken: String?

    func signed(_ offer: Offer, for requested: OfferCustomer) throws(Malformed) -> SignedOffer {
        let part = SignatureAnswer(keyID: keyID, nonce: nonce, timestamp: timestamp, signature: signature)
        return SignedOffer(
            offer: offer,
            customer: try .answered(
                token: appAccountToken, username: applicationUsername, to: requested, mayBeMissing: true),
            billingPlan: offer.billingPlan, signature: try part.checked(), compactJWS: nil, compactJWSMissing: [],
            transactionID: nil, secondsValid: nil, compactJWSNonce: nil)
    }
}

struct SignatureAnswer: Decodable {
    let keyID: String
    let nonce: String
    let timestamp: Int64
    let signature: String

    func checked() throws(Malformed) -> OfferSignature {
        guard !keyID.isEmpty else { throw Malformed(what: "keyID is empty") }
        guard let uuid = UUID(uuidString: nonce), nonce == nonce.lowercased() else {
            throw Malformed(what: "nonce is not a UUID in lower case")
        }
        // 2001 to 2286. Seconds would be too small.
        guard (1_000_000_000_000..<10_000_000_000_000).contains(timestamp) else {
            throw Malformed(what: "timestamp is not in milliseconds")
        }
        // DER, a SEQUENCE; not the base64 of base64, and not raw.
        guard let der = Data(base64Encoded: signature), der.first == 0x30, (60...72).contains(der.count) else {
            throw Malformed(what: "signature is not DER in base64")
        }
        return OfferSignature(
            keyID: keyID, nonce: nonce, timestamp: timestamp, base64: signature, der: der, nonceUUID: uuid)
    }
}

/// The answer of `/v1/promotional-offers` for one offer.
struct SigningAnswer: Decodable {
    let bundleID: String
    let productID: String
    let offerID: String
    let applicationUsername: String?
    let appAccountToken: String?
    let billingPlanType: String?
    let expiresAt: Int64?
    let signature: SignatureAnswer?
    let transactionID: String?
    let compactJWS: String?
    let compactJWSMissing: [String]?

    /// - Parameter answeredAt: the `Date` of the answer, in seconds since 1970.
    func signed(
        _ offer: Offer, of bundleID: String, for requested: OfferCustomer, answeredAt: Int64?
    ) throws(Malformed) -> SignedOffer {
        guard self.bundleID == bundleID, productID == offer.productID, offerID == offer.offerID else {
            throw Malformed(what: "the signature is for another offer")
        }
        guard signature != nil || compactJWS != nil else { throw Malformed(what: "there is no signature") }
        let jws: CompactJWS? = if let compactJWS { try CompactJWS(compactJWS) } else { nil }
        if let jws {
            guard jws.claims.bid == bundleID, jws.claims.productId == productID, jws.claims.offerIdentifier == offerID,
                jws.claims.transactionId == transactionID
            else { throw Malformed(what: "compactJWS is for another offer or transaction") }
        }
        let checked: OfferSignature? = if let signature { try signature.checked() } else { nil }
        let lifetime: Int? =
            if let expiresAt, let answeredAt { Int(clamping: expiresAt / 1000 - answeredAt) } else { nil }
        return SignedOffer(
            offer: offer,
            customer: try .answered(
                token: appAccountToken, username: applicationUsername, to: requested, mayBeMissing: false),
            billingPlan: billingPlanType.map(BillingPlan.init), signature: checked, compactJWS: compactJWS,
            compactJWSMissing: compactJWSMissing ?? [], transactionID: transactionID, secondsValid: lifetime,
            compactJWSNonce: jws?.claims.nonce.lowercased())
    }
}

/// A JWS in compact form, decoded but not verified: only the App Store can use it.
struct CompactJWS {
    struct Claims: Decodable {
        let bid: String
        let nonce: String
        let productId: String
        let offerIdentifier: String
        let transactionId: String?
    }

    private struct Header: Decodable {
        let alg: String
    }

    let claims: Claims

    init(_ text: String) throws(Malformed) {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3, parts[2].utf8.count == 86,
            let header = Self.decoded(parts[0], as: Header.self), header.alg == "ES256",
            let claims = Self.decoded(parts[1], as: Claims.self), UUID(uuidString: claims.nonce) != nil
        else { throw Malformed(what: "compactJWS is not a JWS of a promotional offer") }
        self.claims = claims
    }

    /// Decodes JSON in base64url.
    private static func decoded<Part: Decodable>(_ text: Substring, as type: Part.Type) -> Part? {
        let standard = text.replacingOccurrences(of: "-", with: "+").replacingOccurrences(of: "_", with: "/")
        let padding = String(repeating: "=", count: (4 - standard.utf8.count % 4) % 4)
        return Data(base64Encoded: standard + padding).flatMap { try? JSONDecoder().decode(type, from: $0) }
    }
}

extension OfferCustomer {
    /// The customer whom the service signed. The app attaches this one, and not the one that it requested: the service may have
    /// hashed the username, or found the user in the token.
    static func answered(
        token: String?, username: String?, to requested: OfferCustomer, mayBeMissing: Bool
    ) throws(Malformed) -> OfferCustomer {
        switch (token, username, requested.identifier) {
        case (let token?, nil, let identifier):
            guard let uuid = UUID(uuidString: token) else { throw Malformed(what: "appAccountToken is not a UUID") }
            guard identifier == .appAccountToken(uuid) || identifier == .signedInUser else {
                throw Malformed(what: "the signature is for another customer")
            }
            return .appAccountToken(uuid)
        case (nil, let username?, .applicationUsername("")) where !username.isEmpty:
            throw Malformed(what: "the signature is for another customer")
        case (nil, let username?, .applicationUsername), (nil, let username?, .signedInUser):
            return .applicationUsername(username)
        case (nil, nil, .appAccountToken), (nil, nil, .applicationUsername):
            guard mayBeMissing else { throw Malformed(what: "the answer names no customer") }
            return requested
        default: throw Malformed(what: "the answer names no customer, or two")
        }
    }
}

/// A problem in the form of RFC 9457, with the service's members.
struct ProblemAnswer: Decodable {
    let detail: String
    let code: String
    let status: Int
    let field: String?
    let reasons: [DecisionAnswer.Reason]?
    let requestID: String?
}

struct ExplanationAnswer: Decodable {
    struct Warning: Decodable {
        let code: String
    }

    let verifies: Bool
    let cause: String?
    let field: String?
    let explanation: String
    let warnings: [Warning]

    var value: OfferExplanation {
        OfferExplanation(
            verifies: verifies, cause: cause.map(OfferExplanation.Cause.init), field: field, text: explanation,
            warnings: warnings.map(\.code))
    }
}
