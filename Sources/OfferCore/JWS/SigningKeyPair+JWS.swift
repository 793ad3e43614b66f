extension SigningKeyPair {
    /// Signs `jws` and verifies what came of it. This is the only way to a JWS that is sent to a caller.
    package func compactJWS(
        for jws: UnsignedJWS, noting done: (SigningStep) -> Void = { _ in }
    ) throws(SigningFault) -> CompactJWS {
        let signingInput = jws.signingInput
        let der: [UInt8]
        do { der = try sign(signingInput) } catch { throw .signingFailed(error) }
        done(.signed)
        guard let signature = RawSignature(der: der) else { throw .signatureRefused }
        let text = signingInput + [UInt8(ascii: ".")] + Base64URL.text(of: signature.bytes)
        let verified = try verified(text, saying: jws)
        done(.verified)
        return verified
    }

    /// Reads the very text that is sent: every member has to say what was asked for, and the public key has to accept the
    /// signature.
    package func verified(_ text: [UInt8], saying jws: UnsignedJWS) throws(SigningFault) -> CompactJWS {
        guard let made = try? CompactJWS(text), made.content == jws else { throw .signatureRefused }
        let accepted: Bool
        do { accepted = try verifyOwn(made.signature.der, of: made.signingInput) } catch {
            throw .verificationFailed(error)
        }
        guard accepted else { throw .signatureRefused }
        return made
    }
}
