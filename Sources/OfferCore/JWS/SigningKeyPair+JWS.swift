extension SigningKeyPair {
    /// Signs `jws` and verifies the result. Every JWS that is sent to a caller comes from this function.
    package func compactJWS(
        for jws: UnsignedJWS, onStep: (SigningStep) -> Void = { _ in }
    ) throws(SigningFault) -> CompactJWS {
        let signingInput = jws.signingInput
        let der: [UInt8]
        do { der = try sign(signingInput) } catch { throw .signingFailed(error) }
        onStep(.signed)
        guard let signature = RawSignature(der: der) else { throw .signatureRefused }
        let text = signingInput + [UInt8(ascii: ".")] + Base64URL.text(of: signature.bytes)
        let verified = try verified(text, matching: jws)
        onStep(.verified)
        return verified
    }

    /// Parses and verifies the text to be sent. Every member must match `jws`, and the public key must accept the
    /// signature.
    package func verified(_ text: [UInt8], matching jws: UnsignedJWS) throws(SigningFault) -> CompactJWS {
        guard let made = try? CompactJWS(text), made.content == jws else { throw .signatureRefused }
        let accepted: Bool
        do { accepted = try verifyOwn(made.signature.der, of: made.signingInput) } catch {
            throw .verificationFailed(error)
        }
        guard accepted else { throw .signatureRefused }
        return made
    }
}
