package import OfferCore

/// A key for the App Store Connect API. It differs from the In-App Purchase keys that sign offers.
package struct AppStoreConnectKey: Sendable {
    package let keyID: KeyID
    /// The issuer ID of a team key; nil for an individual key.
    package let issuerID: IssuerID?
    private let pair: any SigningKeyPair

    package init(keyID: KeyID, issuerID: IssuerID?, pair: any SigningKeyPair) {
        self.keyID = keyID
        self.issuerID = issuerID
        self.pair = pair
    }

    /// The lifetime of a token in seconds. Apple permits twenty minutes.
    private static let lifetimeSeconds: Int64 = 600
    /// The number of seconds subtracted from the issue time, because this machine's clock may be ahead of Apple's.
    private static let clockAllowanceSeconds: Int64 = 20

    /// Creates a token and verifies its signature with the public key.
    ///
    /// Source: Apple, "Generating Tokens for API Requests" (App Store Connect API documentation).
    /// - Returns: a JWS in compact form.
    func token(at now: Timestamp) throws(SigningFault) -> String {
        let issued = now.milliseconds / 1000 - Self.clockAllowanceSeconds
        var header = JSONWriter()
        header.member("alg", "ES256")
        header.member("kid", utf8: keyID.text.utf8)
        header.member("typ", "JWT")
        var claims = JSONWriter()
        if let issuerID { claims.member("iss", utf8: issuerID.uuid.utf8) } else { claims.member("sub", "user") }
        claims.member("iat", issued)
        claims.member("exp", issued + Self.lifetimeSeconds)
        claims.member("aud", "appstoreconnect-v1")
        let dot = UInt8(ascii: ".")
        let input = Base64URL.text(of: header.finish()) + [dot] + Base64URL.text(of: claims.finish())
        let der: [UInt8]
        do { der = try pair.sign(input) } catch { throw .signingFailed(error) }
        let isAccepted: Bool
        do { isAccepted = try pair.verifyOwn(der, of: input) } catch { throw .verificationFailed(error) }
        guard isAccepted, let signature = RawSignature(der: der) else { throw .signatureRefused }
        return String(decoding: input + [dot] + Base64URL.text(of: signature.bytes), as: UTF8.self)
    }
}
