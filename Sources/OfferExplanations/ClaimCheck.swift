import OfferCore
import OfferEligibility

/// A check of a JWS's header and claims against Apple's rules and the app's request.
///
/// Source: Apple, "Generating JWS to sign App Store requests" (StoreKit documentation).
struct ClaimCheck {
    private enum Feature: String, CaseIterable {
        case promotionalOffer = "promotional-offer"
        case introductoryOffer = "introductory-offer-eligibility"
        case advancedCommerce = "advanced-commerce-api"

        /// The claim that only this feature has.
        var distinctiveClaim: String {
            switch self {
            case .promotionalOffer: "offerIdentifier"
            case .introductoryOffer: "allowIntroductoryOffer"
            case .advancedCommerce: "request"
            }
        }
    }

    private let claims: JSONObject
    private let header: JSONObject
    private let expected: PresentedToken.Expected
    private let issuerID: [UInt8]?
    private let names: KnownNames

    /// - Parameter issuerID: the required value of `iss`; nil to check only its form.
    init(_ parts: PresentedToken.Parts, expected: PresentedToken.Expected, issuerID: [UInt8]?, names: KnownNames) {
        claims = parts.claims
        header = parts.header
        self.expected = expected
        self.issuerID = issuerID
        self.names = names
    }

    /// The defect in `alg`, if any. It comes first, because no signature is valid with another algorithm.
    var algorithm: [Finding] {
        header["alg"] == .string(Array("ES256".utf8)) ? [] : [Finding(.jwsAlgorithm, field: "alg")]
    }

    /// All other defects, starting with those most certain to cause a rejection.
    var findings: [Finding] {
        (claims["exp"] == nil ? [] : [Finding(.jwsExpiry, field: "exp")]) + headerMembers + audience + issuedAt + issuer
            + app + nonce + keyID + featureClaims + type
    }

    /// The value of `iat`; nil unless it is a plausible number of seconds.
    var issuedAtSeconds: Int64? {
        guard case .number(let digits) = claims["iat"], let time = Double(String(decoding: digits, as: UTF8.self)),
            time >= 0, time < Self.millisecondsThreshold
        else { return nil }
        return Int64(time)
    }

    var hasUpperCaseNonce: Bool {
        guard case .string(let nonce) = claims["nonce"], let uuid = UUIDText(parsing: nonce) else { return false }
        return uuid.utf8 != nonce
    }

    var hasUpperCaseIssuer: Bool {
        guard case .string(let issuer) = claims["iss"], let uuid = UUIDText(parsing: issuer) else { return false }
        return uuid.utf8 != issuer
    }

    var hasClaimOfOtherFeature: Bool {
        Feature.allCases.contains { $0 != feature && claims[$0.distinctiveClaim] != nil && feature != nil }
    }

    /// The smallest number that is interpreted as milliseconds. As seconds, it would be a time in the year 5138; as
    /// milliseconds, it is a time in 1973.
    private static let millisecondsThreshold = 1e11

    // MARK: Claims of every feature

    /// Findings for certificates, as in a JWS that Apple signs, and for critical extensions (RFC 7515 section 4.1.11),
    /// such as unencoded claims (RFC 7797).
    private var headerMembers: [Finding] {
        ["x5c", "crit", "b64"].filter { header[$0] != nil }.map { Finding(.jwsHeader, field: $0) }
    }

    private var audience: [Finding] {
        switch claims["aud"] {
        case nil: [Finding(.claimMissing, field: "aud")]
        case .array: [Finding(.jwsAudienceList, field: "aud")]
        case .string(let text):
            Feature(rawValue: String(decoding: text, as: UTF8.self)) == feature && feature != nil
                ? [] : [Finding(.jwsAudience, field: "aud")]
        case .some: [Finding(.claimType, field: "aud")]
        }
    }

    private var issuedAt: [Finding] {
        switch claims["iat"] {
        case nil: return [Finding(.claimMissing, field: "iat")]
        case .number(let digits):
            let text = String(decoding: digits, as: UTF8.self)
            if let time = Double(text), time >= Self.millisecondsThreshold {
                return [Finding(.jwsIssuedInMilliseconds, field: "iat")]
            }
            return Int64(text).map { $0 >= 0 } ?? false ? [] : [Finding(.claimType, field: "iat")]
        case .some: return [Finding(.claimType, field: "iat")]
        }
    }

    private var issuer: [Finding] {
        required("iss") { text in
            if UUIDText(parsing: text) == nil { return Finding(.notUUID, field: "iss") }
            return issuerID.flatMap { text.isEqual(ignoringCaseOf: $0) ? nil : Finding(.claimDiffers, field: "iss") }
        }
    }

    private var app: [Finding] {
        let findings = identifier("bid", expected.bundleID)
        guard findings.isEmpty, expected.bundleID == nil, case .string(let text) = claims["bid"],
            names.isMiscased(app: text)
        else { return findings }
        return [Finding(.letterCase, field: "bid")]
    }

    private var nonce: [Finding] {
        required("nonce") { UUIDText(parsing: $0) == nil ? Finding(.notUUID, field: "nonce") : nil }
    }

    private var keyID: [Finding] {
        switch header["kid"] {
        case nil: [Finding(.claimMissing, field: "kid")]
        case .null, .string([]): [Finding(.claimEmpty, field: "kid")]
        case .string(let text): expected.keyID.flatMap { difference("kid", text, $0) }.map { [$0] } ?? []
        case .some: [Finding(.claimType, field: "kid")]
        }
    }

    private var type: [Finding] {
        guard case .string(let text) = header["typ"], text.isEqual(toLowerCase: "jwt".utf8) else {
            return [Finding(.jwsType, field: "typ")]
        }
        return []
    }

    // MARK: Claims of one feature

    /// The feature that the app requested or, if it is unknown, the feature that the claims indicate.
    private var feature: Feature? {
        if expected.offerID != nil { return .promotionalOffer }
        if expected.allowIntroductoryOffer != nil { return .introductoryOffer }
        var named: Feature?
        if case .string(let text) = claims["aud"] { named = Feature(rawValue: String(decoding: text, as: UTF8.self)) }
        if let named, claims[named.distinctiveClaim] != nil { return named }
        return Feature.allCases.first { claims[$0.distinctiveClaim] != nil } ?? named
    }

    private var featureClaims: [Finding] {
        switch feature {
        case .promotionalOffer: product + identifier("offerIdentifier", expected.offerID) + transaction
        case .introductoryOffer:
            product + allowance
                + (claims["transactionId"] == nil ? [Finding(.claimMissing, field: "transactionId")] : transaction)
        case .advancedCommerce: request
        case nil: []
        }
    }

    private var product: [Finding] { identifier("productId", expected.productID) }

    private var transaction: [Finding] {
        guard claims["transactionId"] != nil else {
            return expected.transactionID == nil ? [] : [Finding(.claimMissing, field: "transactionId")]
        }
        return identifier("transactionId", expected.transactionID)
    }

    private var allowance: [Finding] {
        switch claims["allowIntroductoryOffer"] {
        case nil: [Finding(.claimMissing, field: "allowIntroductoryOffer")]
        case .null: [Finding(.claimEmpty, field: "allowIntroductoryOffer")]
        case .bool(let value):
            expected.allowIntroductoryOffer ?? value == value
                ? [] : [Finding(.claimDiffers, field: "allowIntroductoryOffer")]
        case .some: [Finding(.claimType, field: "allowIntroductoryOffer")]
        }
    }

    private var request: [Finding] {
        required("request") { text in
            guard let base64 = LenientBase64(text), base64.isPadded, !base64.hasURLAlphabet else {
                return Finding(.claimEncoding, field: "request")
            }
            do throws(JSONError) {
                guard
                    case .object(let object) = try JSONReader.read(base64.bytes, maximumCount: .max, maximumTotal: .max)
                else {
                    return Finding(.claimEncoding, field: "request")
                }
                return object.members.isEmpty ? Finding(.claimEmpty, field: "request") : nil
            } catch {
                switch error.reason {
                case .duplicateName: return Finding(.jwsDuplicateName, field: "request")
                // The request is nested too deeply for this reader, but perhaps not for Apple's.
                case .tooDeep: return nil
                default: return Finding(.claimEncoding, field: "request")
                }
            }
        }
    }

    private func identifier(_ claim: String, _ expected: [UInt8]?) -> [Finding] {
        required(claim) { text in
            if let difference = expected.flatMap({ difference(claim, text, $0) }) { return difference }
            if text != text.trimmed { return Finding(.whiteSpace, field: claim) }
            if text != ReadableText.withoutInvisible(text) { return Finding(.invisibleCharacter, field: claim) }
            return FieldDefects.hasForbiddenCharacter(text) ? Finding(.forbiddenCharacter, field: claim) : nil
        }
    }

    private func required(_ claim: String, _ check: ([UInt8]) -> Finding?) -> [Finding] {
        switch claims[claim] {
        case nil: [Finding(.claimMissing, field: claim)]
        case .null, .string([]): [Finding(.claimEmpty, field: claim)]
        case .string(let text): check(text).map { [$0] } ?? []
        case .some: [Finding(.claimType, field: claim)]
        }
    }

    private func difference(_ field: String, _ text: [UInt8], _ expected: [UInt8]) -> Finding? {
        if text == expected { return nil }
        if text.trimmed == expected.trimmed { return Finding(.whiteSpace, field: field) }
        return Finding(text.isEqual(ignoringCaseOf: expected) ? .letterCase : .claimDiffers, field: field)
    }
}
