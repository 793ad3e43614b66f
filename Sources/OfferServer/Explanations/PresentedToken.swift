import OfferCore

/// A JWS (RFC 7515, compact) that an app passed to StoreKit, read leniently, and what the app thinks it is for.
package struct PresentedToken: Sendable {
    /// What the app asked for; each is compared only if it was given.
    struct Expected: Sendable {
        let bundleID: [UInt8]?
        let productID: [UInt8]?
        let offerID: [UInt8]?
        let transactionID: [UInt8]?
        let keyID: [UInt8]?
        let allowIntroductoryOffer: Bool?
    }

    let expected: Expected
    /// What is wrong with how the text is written.
    let findings: [Finding]
    /// nil if the text cannot be taken apart.
    let parts: Parts?

    struct Parts: Sendable {
        let header: JSONObject
        let claims: JSONObject
        /// The JSON texts.
        let headerText: [UInt8]
        let claimsText: [UInt8]
        let signature: [UInt8]
        /// The first two segments with the dot between them, as they came but for white space.
        let signingInput: [UInt8]
        /// The same in base64url without padding; what is signed where only the sending was wrong.
        let mendedSigningInput: [UInt8]
        /// The second segment.
        let claimsSegment: [UInt8]
    }

    /// The largest text. Every JWS that is made here is shorter, and a body has room for what should be in it.
    private static let maximumSize = 30 * 1024

    /// - Parameter isBesideV1: whether there is a V1 signature as well, whose `keyID` it then is.
    init(_ members: JSONObject, isBesideV1: Bool) throws(Problem) {
        let reader = EvidenceReader(members)
        _ = try reader.customer()  // A JWS has no customer of this kind, but the app may name it.
        expected = Expected(
            bundleID: try reader.optionalText("bundleID", or: "appBundleID"),
            productID: try reader.optionalText("productID", or: "productIdentifier"),
            offerID: try reader.optionalText("offerID"), transactionID: try reader.optionalText("transactionID"),
            keyID: isBesideV1 ? nil : try reader.optionalText("keyID"),
            allowIntroductoryOffer: try reader.optionalBool("allowIntroductoryOffer"))
        (parts, findings) = Self.read(try reader.text("compactJWS", maximumSize: Self.maximumSize))
    }

    /// The text of a claim; nil if there is none, or it is no text.
    func text(ofClaim name: String) -> [UInt8]? {
        guard case .string(let text) = parts?.claims[name] else { return nil }
        return text
    }

    /// `kid` of the header; nil if there is none, or it is no text.
    var keyID: [UInt8]? {
        guard case .string(let text) = parts?.header["kid"] else { return nil }
        return text
    }

    private static func read(_ text: [UInt8]) -> (Parts?, [Finding]) {
        var findings: [Finding] = []
        let compact = text.filter { !$0.isASCIIWhiteSpace }
        if compact.count != text.count { findings.append(Finding(.jwsWhiteSpace, field: "compactJWS")) }
        let segments = compact.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard segments.count == 3, let ofHeader = LenientBase64(segments[0]), let ofClaims = LenientBase64(segments[1])
        else { return (nil, [Finding(.jwsUnreadable, field: "compactJWS")]) }
        // One that cannot be decoded is none; the rest of the text may be wrong as well.
        let ofSignature = LenientBase64(segments[2])
        let decoded = [ofHeader, ofClaims, ofSignature].compactMap(\.self)
        let header: JSONValue
        let claims: JSONValue
        do throws(JSONError) {
            // How many members there are, the size of the text bounds.
            header = try JSONReader.read(ofHeader.bytes, maximumCount: .max)
            claims = try JSONReader.read(ofClaims.bytes, maximumCount: .max)
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
        if decoded.contains(where: \.hasBitsLeft) { findings.append(Finding(.base64BitsLeft, field: "compactJWS")) }
        let parts = Parts(
            header: header, claims: claims, headerText: ofHeader.bytes, claimsText: ofClaims.bytes,
            signature: ofSignature?.bytes ?? [], signingInput: joined(segments[0], segments[1]),
            mendedSigningInput: joined(mended(segments[0])[...], mended(segments[1])[...]),
            claimsSegment: Array(segments[1]))
        return (parts, findings)
    }

    private static func joined(_ one: ArraySlice<UInt8>, _ other: ArraySlice<UInt8>) -> [UInt8] {
        one + [UInt8(ascii: ".")] + other
    }

    private static func mended(_ segment: ArraySlice<UInt8>) -> [UInt8] {
        segment.filter { $0 != UInt8(ascii: "=") }.map { digit in
            switch digit {
            case UInt8(ascii: "+"): UInt8(ascii: "-")
            case UInt8(ascii: "/"): UInt8(ascii: "_")
            default: digit
            }
        }
    }
}
