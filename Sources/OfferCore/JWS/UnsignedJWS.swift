/// The content of a JWS for the App Store, before signing.
///
/// It has no `exp`: the App Store measures the age of a JWS from `iat` and rejects a JWS that has `exp`.
package struct UnsignedJWS: Hashable, Sendable {
    package let keyID: KeyID
    package let issuerID: IssuerID
    /// Unix time in whole seconds.
    package let issuedAtSeconds: Int64
    package let bundleID: BundleID
    package let nonce: Nonce
    package let request: AppStoreRequest

    package init(
        keyID: KeyID, issuerID: IssuerID, issuedAtSeconds: Int64, bundleID: BundleID, nonce: Nonce,
        request: AppStoreRequest
    ) {
        self.keyID = keyID
        self.issuerID = issuerID
        self.issuedAtSeconds = issuedAtSeconds
        self.bundleID = bundleID
        self.nonce = nonce
        self.request = request
    }

    /// The JOSE header (RFC 7515 section 4), as JSON.
    package var header: [UInt8] {
        var writer = JSONWriter()
        writer.member("alg", "ES256")
        writer.member("kid", utf8: keyID.text.utf8)
        writer.member("typ", "JWT")
        return writer.finish()
    }

    /// The claims, as JSON. Claims without a value are omitted.
    package var claims: [UInt8] {
        var writer = JSONWriter()
        writer.member("iss", utf8: issuerID.uuid.utf8)
        writer.member("iat", issuedAtSeconds)
        writer.member("aud", request.audience)
        writer.member("bid", utf8: bundleID.text.utf8)
        writer.member("nonce", utf8: nonce.uuid.utf8)
        switch request {
        case .promotionalOffer(let productID, let offerID, let transactionID):
            writer.member("productId", utf8: productID.text.utf8)
            writer.member("offerIdentifier", utf8: offerID.text.utf8)
            if let transactionID { writer.member("transactionId", utf8: transactionID.text.utf8) }
        case .introductoryOfferEligibility(let productID, let isAllowed, let transactionID):
            writer.member("productId", utf8: productID.text.utf8)
            writer.member("allowIntroductoryOffer", isAllowed)
            writer.member("transactionId", utf8: transactionID.text.utf8)
        case .advancedCommerce(let json):
            // Standard base64 with padding, although the JWS itself is base64url without padding.
            writer.member("request", utf8: Base64.text(of: json.utf8))
        }
        return writer.finish()
    }

    /// The signed bytes (RFC 7515 section 5.1): header and claims in base64url, joined by a dot.
    package var signingInput: [UInt8] {
        Base64URL.text(of: header) + [UInt8(ascii: ".")] + Base64URL.text(of: claims)
    }
}
