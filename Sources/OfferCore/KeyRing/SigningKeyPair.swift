/// A P-256 key pair that signs offers. The private half stays with whoever conforms.
///
/// OfferCore has no cryptography of its own; OfferCrypto conforms, and so does a test's faulty signer.
package protocol SigningKeyPair: AnyObject, Sendable {
    /// SHA-256 of the public half (SubjectPublicKeyInfo in DER), in lower-case hexadecimal; may be shown to anyone.
    var fingerprint: String { get }

    /// Signs SHA-256 of `message`.
    /// - Returns: ASN.1 DER; different at every call.
    func sign(_ message: [UInt8]) throws -> [UInt8]

    /// Whether the public half accepts `signature`, in ASN.1 DER, for SHA-256 of `message`.
    func verify(_ signature: [UInt8], of message: [UInt8]) throws -> Bool

    /// The same for a signature that the pair has just made, and may be quicker.
    func verifyOwn(_ signature: [UInt8], of message: [UInt8]) throws -> Bool

    /// Makes ready for many signatures: takes tens of milliseconds and keeps 150 kB. Without it, or where it fails, all is
    /// done more slowly.
    /// - Returns: false if there is nothing to do, as the second time.
    func prepare() throws -> Bool

    /// Gives up what ``prepare()`` has made.
    func unprepare()
}

extension SigningKeyPair {
    package func verifyOwn(_ signature: [UInt8], of message: [UInt8]) throws -> Bool {
        try verify(signature, of: message)
    }

    package func prepare() -> Bool { false }

    package func unprepare() {}
}

/// Why no signature was made. All three are faults of ours: logged whole, answered without detail.
package enum SigningFault: Error {
    case signingFailed(any Error)
    case verificationFailed(any Error)
    /// A signature was made and the public key refuses it, or a JWS does not read as what was asked for: memory, the
    /// processor or the library cannot be trusted with this key any more.
    case signatureRefused
}

/// A part of making a signature that is done, for whoever takes the time.
package enum SigningStep: Sendable {
    case signed
    case verified
}

extension SigningKeyPair {
    /// Signs `payload` and verifies the signature with the public key. This is the only way to an ``OfferSignature``
    /// that is sent to a caller: one that does not verify never leaves this function.
    package func signature(
        for payload: OfferPayload, noting done: (SigningStep) -> Void = { _ in }
    ) throws(SigningFault) -> OfferSignature {
        let message = payload.bytes
        let der: [UInt8]
        do { der = try sign(message) } catch { throw .signingFailed(error) }
        done(.signed)
        let accepted: Bool
        do { accepted = try verifyOwn(der, of: message) } catch { throw .verificationFailed(error) }
        done(.verified)
        guard accepted else { throw .signatureRefused }
        return OfferSignature(der: der)
    }
}
