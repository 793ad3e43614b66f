/// A P-256 key pair that signs offers. The private half never leaves the conforming type.
///
/// OfferCore contains no cryptography. OfferCrypto provides the real implementation, and the tests provide faulty ones.
package protocol SigningKeyPair: AnyObject, Sendable {
    /// SHA-256 of the public half (SubjectPublicKeyInfo in DER), in lower-case hexadecimal. It is not secret.
    var fingerprint: String { get }

    /// The threads on which ``sign(_:)`` must run because it takes I/O; nil if it may run anywhere.
    var threads: (any SigningThreads)? { get }

    /// Signs SHA-256 of `message`.
    /// - Returns: ASN.1 DER, different on every call.
    func sign(_ message: [UInt8]) throws -> [UInt8]

    /// Returns true if the public half accepts `signature`, in ASN.1 DER, for SHA-256 of `message`.
    func verify(_ signature: [UInt8], of message: [UInt8]) throws -> Bool

    /// Returns true if the public half accepts `signature`, in ASN.1 DER, for a digest of `message`. Only explanations
    /// use digests other than SHA-256.
    func verify(_ signature: [UInt8], of message: [UInt8], hashedBy digest: SignatureDigest) throws -> Bool

    /// Verifies a signature that this pair has just made. This may be faster than ``verify(_:of:)``, but must not be used
    /// for signatures that callers present.
    func verifyOwn(_ signature: [UInt8], of message: [UInt8]) throws -> Bool
}

extension SigningKeyPair {
    package var threads: (any SigningThreads)? { nil }

    /// Supports only SHA-256, for pairs that do not implement other digests.
    package func verify(_ signature: [UInt8], of message: [UInt8], hashedBy digest: SignatureDigest) throws -> Bool {
        try digest == .sha256 && verify(signature, of: message)
    }

    package func verifyOwn(_ signature: [UInt8], of message: [UInt8]) throws -> Bool {
        try verify(signature, of: message)
    }
}

/// The reason that no signature was made. All three are service faults: they are logged in full, and the response
/// contains no details.
package enum SigningFault: Error {
    case signingFailed(any Error)
    case verificationFailed(any Error)
    /// The signature does not verify with the public key, or the JWS does not match the request. The memory, the
    /// processor or the library can no longer be trusted with this key.
    case signatureRefused
}

/// A completed signing step, reported for timing.
package enum SigningStep: Sendable {
    case signed
    case verified
}

extension SigningKeyPair {
    /// Signs `payload` and verifies the signature with the public key. Every ``OfferSignature`` that is sent to a
    /// caller comes from this function, which returns only signatures that verify.
    package func signature(
        for payload: OfferPayload, onStep: (SigningStep) -> Void = { _ in }
    ) throws(SigningFault) -> OfferSignature {
        let message = payload.bytes
        let der: [UInt8]
        do { der = try sign(message) } catch { throw .signingFailed(error) }
        onStep(.signed)
        let accepted: Bool
        do { accepted = try verifyOwn(der, of: message) } catch { throw .verificationFailed(error) }
        onStep(.verified)
        guard accepted else { throw .signatureRefused }
        return OfferSignature(der: der)
    }
}
