import COpenSSL

/// What libcrypto needs at hand to sign and verify with one key: made once, used many times, by one thread at a time.
///
/// Preparing it anew at every call (`EVP_DigestSignInit`) is work that does not depend on the message.
@safe final class ECDSAContext {
    private let digest: SHA256Digest
    private let signing: OpaquePointer?
    private let verifying: OpaquePointer
    private let quickVerification: QuickVerification?

    /// - Parameters:
    ///   - pkey: a P-256 key; libcrypto counts a reference of its own.
    ///   - canSign: whether it has a private half.
    ///   - multiples: of its public half; nil if there are none.
    init(pkey: OpaquePointer, canSign: Bool, multiples: PublicKeyMultiples?) throws(OpenSSLError) {
        digest = try SHA256Digest()
        quickVerification = if let multiples { try QuickVerification(by: multiples) } else { nil }
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

    /// Verifies what the key has just signed, by multiples of the public key where there are some.
    /// - Throws: also where those say no and ``verify(_:of:)`` says yes, which is a fault of memory, processor or libcrypto.
    func verifyOwn(_ signature: [UInt8], of message: [UInt8]) throws(OpenSSLError) -> Bool {
        guard let quickVerification else { return try verify(signature, of: message) }
        if quickVerification.accepts(signature, ofHash: try digest.hash(message)) { return true }
        guard try !verify(signature, of: message) else {
            throw OpenSSLError(
                call: "EC_POINT_mul", reasons: ["EVP_PKEY_verify accepts what the public key's multiples do not"])
        }
        return false
    }

    /// Only a clear yes is a yes: a malformed signature is a no, and so is a check that broke off.
    func verify(_ signature: [UInt8], of message: [UInt8]) throws(OpenSSLError) -> Bool {
        ERR_clear_error()
        let hash = try digest.hash(message)
        // 1 is yes, 0 a signature that does not verify, below 0 one that cannot be parsed: only 1 is success.
        let verdict = unsafe hash.span.withUnsafeBufferPointer { hash in
            unsafe EVP_PKEY_verify(verifying, signature, signature.count, hash.baseAddress, hash.count)
        }
        if verdict != 1 { ERR_clear_error() }
        return verdict == 1
    }

    /// SEQUENCE of two INTEGERs of at most 33 bytes each.
    private static let maximumSignatureSize = 72
}
