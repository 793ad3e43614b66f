import OfferCore
import OfferEligibility

/// A compact JWS (RFC 7515) that an app passed to StoreKit, parsed leniently, and the values that the app expects in
/// it.
package struct PresentedToken: Sendable {
    /// The values that the app requested. A nil value is not compared.
    struct Expected: Sendable {
        let bundleID: [UInt8]?
        let productID: [UInt8]?
        let offerID: [UInt8]?
        let transactionID: [UInt8]?
        let keyID: [UInt8]?
        let allowIntroductoryOffer: Bool?
    }

    let expected: Expected
    /// The encoding defects of the text.
    let findings: [Finding]
    /// The decoded parts; nil if the text cannot be parsed.
    let parts: Parts?

    struct Parts: Sendable {
        let header: JSONObject
        let claims: JSONObject
        /// The JSON text of the header.
        let headerText: [UInt8]
        /// The JSON text of the claims.
        let claimsText: [UInt8]
        let signature: [UInt8]
        /// The first two segments and the dot between them, as presented but without white space.
        let signingInput: [UInt8]
        /// The signing input, converted to base64url without padding. This is the signed text if the encoding was
        /// changed after signing.
        let normalizedSigningInput: [UInt8]
        /// The second segment.
        let claimsSegment: [UInt8]
    }

    /// The maximum size of the text, in bytes. Every JWS that this service makes is smaller.
    private static let maximumSize = 30 * 1024

    /// - Parameter accompaniesV1: whether the evidence also has a V1 signature. If so, `keyID` belongs to the V1
    ///   signature.
    init(_ members: JSONObject, accompaniesV1: Bool) throws(MemberError) {
        let reader = EvidenceReader(members)
        _ = try reader.customer()  // A JWS contains no customer, but the app may name one.
        expected = Expected(
            bundleID: try reader.optionalText("bundleID", or: "appBundleID"),
            productID: try reader.optionalText("productID", or: "productIdentifier"),
            offerID: try reader.optionalText("offerID"), transactionID: try reader.optionalText("transactionID"),
            keyID: accompaniesV1 ? nil : try reader.optionalText("keyID"),
            allowIntroductoryOffer: try reader.optionalBool("allowIntroductoryOffer"))
        (parts, findings) = Self.read(try reader.text("compactJWS", maximumSize: Self.maximumSize))
    }

    /// Returns the text of a claim; nil if it is absent or not a string.
    func text(ofClaim name: String) -> [UInt8]? {
        guard case .string(let text) = parts?.claims[name] else { return nil }
        return text
    }

    /// The value of `kid` in the header; nil if it is absent or not a string.
    var keyID: [UInt8]? {
        guard case .string(let text) = parts?.header["kid"] else { return nil }
        return text
    }

    private static func read(_ text: [UInt8]) -> (Parts?, [Finding]) {
        var findings: [Finding] = []
        let compact = text.filter { !$0.isASCIIWhiteSpace }
        if compact.count != text.count { findings.append(Finding(.jwsWhiteSpace, field: "compactJWS")) }
        let segments = compact.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard segments.count == 3, let headerSegment = LenientBase64(segments[0]),
            let claimsSegment = LenientBase64(segments[1])
        else { return (nil, [Finding(.jwsUnreadable, field: "compactJWS")]) }
        // A signature that cannot be decoded counts as empty, so that other defects are still found.
        let signatureSegment = LenientBase64(segments[2])
        let decoded = [headerSegment, claimsSegment, signatureSegment].compactMap(\.self)
        let header: JSONValue
        let claims: JSONValue
        do throws(JSONError) {
            // The size of the text limits the number of members.
            header = try JSONReader.read(headerSegment.bytes, maximumCount: .max, maximumTotal: .max)
            claims = try JSONReader.read(claimsSegment.bytes, maximumCount: .max, maximumTotal: .max)
        } catch {
            let cause: Cause = error.reason == .duplicateName ? .jwsDuplicateName : .jwsUnreadable
            return (nil, [Finding(cause, field: "compactJWS")])
        }
        guard case .object(let header) = header, case .object(let claims) = claims else {
            return (nil, [Finding(.jwsUnreadable, field: "compactJWS")])
        }
        if decoded.contains(where: { $0.paddingCount > 0 }) {
            findings.append(Finding(.jwsPadded, field: "compactJWS"))
        }
        if decoded.contains(where: \.hasStandardAlphabet) {
            findings.append(Finding(.jwsStandardBase64, field: "compactJWS"))
        }
        if decoded.contains(where: \.hasNonZeroPadBits) {
            findings.append(Finding(.base64BitsLeft, field: "compactJWS"))
        }
        let parts = Parts(
            header: header, claims: claims, headerText: headerSegment.bytes, claimsText: claimsSegment.bytes,
            signature: signatureSegment?.bytes ?? [], signingInput: joined(segments[0], segments[1]),
            normalizedSigningInput: joined(normalized(segments[0])[...], normalized(segments[1])[...]),
            claimsSegment: Array(segments[1]))
        return (parts, findings)
    }

    private static func joined(_ one: ArraySlice<UInt8>, _ other: ArraySlice<UInt8>) -> [UInt8] {
        one + [UInt8(ascii: ".")] + other
    }

    private static func normalized(_ segment: ArraySlice<UInt8>) -> [UInt8] {
        segment.filter { $0 != UInt8(ascii: "=") }.map { digit in
            switch digit {
            case UInt8(ascii: "+"): UInt8(ascii: "-")
            case UInt8(ascii: "/"): UInt8(ascii: "_")
            default: digit
            }
        }
    }
}
