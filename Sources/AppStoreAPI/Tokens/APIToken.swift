package import OfferCore
import OfferEligibility

/// An unsigned token for the App Store Server API: a JWT (RFC 7519) for one app, to be signed with a key of the team.
///
/// Source: Apple, "Generating JSON Web Tokens for API requests" (App Store Server API documentation).
package struct UnsignedAPIToken: Hashable, Sendable {
    package let keyID: KeyID
    package let issuerID: IssuerID
    package let bundleID: BundleID
    /// The issue time, as Unix time in whole seconds.
    package let issuedAtSeconds: Int64

    /// The lifetime of a token in seconds. Apple permits an hour, but its libraries use five minutes.
    package static let lifetimeSeconds: Int64 = 300

    package init(keyID: KeyID, issuerID: IssuerID, bundleID: BundleID, issuedAtSeconds: Int64) {
        self.keyID = keyID
        self.issuerID = issuerID
        self.bundleID = bundleID
        self.issuedAtSeconds = issuedAtSeconds
    }

    /// The header and the claims in base64url, joined by a dot.
    package var signingInput: [UInt8] { Base64URL.text(of: header) + [Self.dot] + Base64URL.text(of: claims) }

    private var header: [UInt8] {
        var writer = JSONWriter()
        writer.member("alg", "ES256")
        writer.member("kid", utf8: keyID.text.utf8)
        writer.member("typ", "JWT")
        return writer.finish()
    }

    private var claims: [UInt8] {
        var writer = JSONWriter()
        writer.member("iss", utf8: issuerID.uuid.utf8)
        writer.member("iat", issuedAtSeconds)
        writer.member("exp", issuedAtSeconds + Self.lifetimeSeconds)
        writer.member("aud", "appstoreconnect-v1")
        writer.member("bid", utf8: bundleID.text.utf8)
        return writer.finish()
    }

    fileprivate static let dot = UInt8(ascii: ".")
}

extension SigningKeyPair {
    /// Signs a token and verifies the signature with the public key.
    /// - Returns: a JWS in compact form.
    package func apiToken(for token: UnsignedAPIToken) throws(SigningFault) -> String {
        let input = token.signingInput
        let der: [UInt8]
        do { der = try sign(input) } catch { throw .signingFailed(error) }
        let accepted: Bool
        do { accepted = try verifyOwn(der, of: input) } catch { throw .verificationFailed(error) }
        guard accepted, let signature = RawSignature(der: der) else { throw .signatureRefused }
        return String(
            decoding: input + [UnsignedAPIToken.dot] + Base64URL.text(of: signature.bytes), as: UTF8.self)
    }
}
