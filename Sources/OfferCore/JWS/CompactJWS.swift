/// A JWS in compact form (RFC 7515 section 7.1) with exactly the members that this service produces.
///
/// Parsing does not verify the signature; see ``SigningKeyPair/compactJWS(for:onStep:)``.
package struct CompactJWS: Hashable, Sendable {
    /// The three parts in base64url without padding, joined by dots. StoreKit takes this as `compactJWS`.
    package let text: [UInt8]
    /// The decoded header and claims.
    package let content: UnsignedJWS
    package let signature: RawSignature

    /// The bytes that the signature covers: the first two parts as received.
    package let signingInput: [UInt8]

    /// Reads a JWS. Only the order, escapes and white space of its members may differ from what ``UnsignedJWS`` writes.
    package init(_ text: [UInt8]) throws(CompactJWSFault) {
        let parts = text.split(separator: Self.dot, omittingEmptySubsequences: false)
        guard parts.count == 3 else { throw .notThreeParts }
        guard let header = Base64URL.bytes(of: parts[0]), let claims = Base64URL.bytes(of: parts[1]),
            let signature = Base64URL.bytes(of: parts[2])
        else { throw .notBase64URL }
        guard let signature = RawSignature(bytes: signature) else { throw .signatureSize }
        let keyID = try Self.keyID(in: ClaimReader(json: header))
        content = try Self.content(of: ClaimReader(json: claims), keyID: keyID)
        self.signature = signature
        self.text = text
        signingInput = Array(text[..<(parts[2].startIndex - 1)])
    }

    private static let dot = UInt8(ascii: ".")

    private static func keyID(in header: ClaimReader) throws(CompactJWSFault) -> KeyID {
        try header.refuseOthers(than: ["alg", "kid", "typ"])
        // SigningKeyPair verifies ES256 only, so the header must not name any other algorithm.
        try header.require("alg", "ES256")
        try header.require("typ", "JWT")
        return try header.field("kid", KeyID.init)
    }

    private static func content(of claims: ClaimReader, keyID: KeyID) throws(CompactJWSFault) -> UnsignedJWS {
        let request: AppStoreRequest
        let own: [String]
        switch try claims.text("aud") {
        case Array("promotional-offer".utf8):
            own = ["productId", "offerIdentifier", "transactionId"]
            request = .promotionalOffer(
                try claims.field("productId", ProductID.init), try claims.field("offerIdentifier", OfferID.init),
                try claims.optionalField("transactionId", TransactionID.init))
        case Array("introductory-offer-eligibility".utf8):
            own = ["productId", "allowIntroductoryOffer", "transactionId"]
            request = .introductoryOfferEligibility(
                try claims.field("productId", ProductID.init), allowed: try claims.bool("allowIntroductoryOffer"),
                try claims.field("transactionId", TransactionID.init))
        case Array("advanced-commerce-api".utf8):
            own = ["request"]
            request = .advancedCommerce(try claims.base64Object("request"))
        default: throw .claim("aud")
        }
        try claims.refuseOthers(than: ["iss", "iat", "aud", "bid", "nonce"] + own)
        return UnsignedJWS(
            keyID: keyID, issuerID: try claims.lowerCaseField("iss", IssuerID.init),
            issuedAtSeconds: try claims.integer("iat"), bundleID: try claims.field("bid", BundleID.init),
            nonce: try claims.lowerCaseField("nonce", Nonce.init), request: request)
    }
}

/// The reason a string is not a JWS in the form that this service produces. It contains member names, never their values.
package enum CompactJWSFault: Error, Hashable {
    case notThreeParts
    case notBase64URL
    case signatureSize
    case notAnObject
    /// The member with this name is missing, invalid, of the wrong type or not allowed.
    case claim(String)
}
