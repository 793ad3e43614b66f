import COpenSSL
import OfferCore

/// Reusable libcrypto contexts that sign and verify with one key. Only one thread may use them at a time.
///
/// Creating them on every call (`EVP_DigestSignInit`) would repeat work that does not depend on the message.
@safe final class ECDSAContext {
    private let digest: SHA256Digest
    private let signing: OpaquePointer?
    private let verifying: OpaquePointer
    private let quickVerification: PrecomputedVerifier?

    /// - Parameters:
    ///   - pkey: a P-256 key; the contexts retain it.
    ///   - canSign: true if the key has a private half.
    ///   - multiples: the precomputed public half; nil to verify without it.
    init(pkey: OpaquePointer, canSign: Bool, multiples: PrecomputedPublicKey?) throws(OpenSSLError) {
        digest = try SHA256Digest()
        quickVerification = if let multiples { try PrecomputedVerifier(by: multiples) } else { nil }
        guard let verifying = unsafe EVP_PKEY_CTX_new_from_pkey(nil, pkey, nil) else {
            throw .draining(after: "EVP_PKEY_CTX_new_from_pkey")
        }
        unsafe self.verifying = unsafe verifying
        unsafe signing = canSign ? unsafe EVP_PKEY_CTX_new_from_pkey(nil, pkey, nil) : nil
        guard unsafe EVP_PKEY_verify_init(verifying) == 1 else { throw .draining(after: "EVP_PKEY_verify_init") }
        if canSign {
            guard unsafe EVP_PKEY_sign_init(signing) == 1 else { throw .draining(after: "EVP_PKEY_sign_init") }
        }
    }

    deinit {
        unsafe EVP_PKEY_CTX_free(verifying)
        unsafe EVP_PKEY_CTX_free(signing)
    }

    /// - Returns: ASN.1 DER, at most 72 bytes.
    func sign(_ message: [UInt8]) throws(OpenSSLError) -> [UInt8] {
        ERR_clear_error()
        let hash = try digest.hash(message)
        let signature = unsafe [UInt8](unsafeUninitializedCapacity: Self.maximumSignatureSize) { signature, count in
            count = signature.count
            let isSigned = unsafe hash.span.withUnsafeBufferPointer { hash in
                unsafe EVP_PKEY_sign(signing, signature.baseAddress, &count, hash.baseAddress, hash.count) == 1
            }
            if !isSigned { count = 0 }
        }
        guard !signature.isEmpty else { throw .draining(after: "EVP_PKEY_sign") }
        return signature
    }

    /// Verifies a signature that is probably valid, such as one that this key has just made. Uses the precomputed
    /// verifier if there is one.
    /// - Throws: an error if libcrypto fails, or if the precomputed verifier rejects a signature that ``verify(_:of:)``
    ///   accepts. This indicates a fault in the memory, the processor or libcrypto.
    func verifyOwn(_ signature: [UInt8], of message: [UInt8]) throws(OpenSSLError) -> Bool {
        guard let quickVerification else { return try verify(signature, of: message) }
        if quickVerification.accepts(signature, ofHash: try digest.hash(message)) { return true }
        guard try !verify(signature, of: message) else {
            throw OpenSSLError(
                call: "EC_POINT_mul",
                reasons: ["EVP_PKEY_verify accepts a signature that the precomputed verifier rejects"])
        }
        return false
    }

    /// Returns true if libcrypto accepts the signature; false also for a malformed signature or a failed check.
    func verify(_ signature: [UInt8], of message: [UInt8]) throws(OpenSSLError) -> Bool {
        ERR_clear_error()
        let hash = try digest.hash(message)
        return unsafe hash.span.withUnsafeBufferPointer { unsafe accepts(signature, ofHash: $0) }
    }

    /// Returns true if libcrypto accepts the signature for the given digest. ECDSA uses only the first 256 bits of a
    /// longer digest.
    func verify(
        _ signature: [UInt8], of message: [UInt8], hashedBy digest: SignatureDigest
    ) throws(OpenSSLError) -> Bool {
        ERR_clear_error()
        let hash = try digest.hash(message)
        return unsafe hash.withUnsafeBufferPointer { unsafe accepts(signature, ofHash: $0) }
    }

    private func accepts(_ signature: [UInt8], ofHash hash: UnsafeBufferPointer<UInt8>) -> Bool {
        // 1 means valid, 0 means invalid, and a negative value means malformed, so only 1 is success.
        let verdict = unsafe EVP_PKEY_verify(verifying, signature, signature.count, hash.baseAddress, hash.count)
        if verdict != 1 { ERR_clear_error() }
        return verdict == 1
    }

    /// The maximum size of a signature in bytes: a SEQUENCE of two INTEGERs, each with at most 33 bytes of content.
    private static let maximumSignatureSize = 72
}
