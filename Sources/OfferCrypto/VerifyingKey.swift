import COpenSSL
package import OfferCore

/// An ECDSA P-256 public key owned by libcrypto.
@safe package final class VerifyingKey: Sendable {
    private let contexts: ECDSAContextPool

    /// SubjectPublicKeyInfo in ASN.1 DER (RFC 5280 section 4.1).
    package let der: [UInt8]

    /// - Parameter der: SubjectPublicKeyInfo of a P-256 key in ASN.1 DER, without trailing bytes.
    package init(der: [UInt8]) throws(OpenSSLError) {
        ERR_clear_error()
        self.der = der
        let pkey = try unsafe Self.read(der)
        contexts = unsafe ECDSAContextPool(owning: pkey, canSign: false)
        guard unsafe EVP_PKEY_is_a(pkey, "EC") == 1, unsafe Curve.name(of: pkey) == Curve.p256 else {
            throw OpenSSLError(call: "EVP_PKEY_get_group_name", reasons: ["not a P-256 public key"])
        }
    }

    /// - Parameter point: a point on P-256, encoded according to SEC 1 section 2.3.3 without compression: 65 bytes.
    package convenience init(point: [UInt8]) throws(OpenSSLError) {
        try self.init(der: Self.derBeforePoint + point)
    }

    /// SubjectPublicKeyInfo of a P-256 key up to its point (RFC 5480 section 2).
    private static let derBeforePoint: [UInt8] = [
        0x30, 0x59, 0x30, 0x13, 0x06, 0x07, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x02, 0x01, 0x06, 0x08, 0x2A, 0x86, 0x48,
        0xCE, 0x3D, 0x03, 0x01, 0x07, 0x03, 0x42, 0x00,
    ]

    /// - Parameter pem: a `PUBLIC KEY` block (RFC 7468 section 13) of a P-256 key.
    package convenience init(pem: [UInt8]) throws(OpenSSLError) {
        let block = try unsafe SecretBytes(copying: pem).withBytes { pem throws(OpenSSLError) in
            try unsafe PEMBlock(firstIn: pem)
        }
        guard block.label == "PUBLIC KEY" else {
            throw OpenSSLError(call: "PEM_read_bio", reasons: ["there is no PUBLIC KEY block"])
        }
        try self.init(der: unsafe block.withBytes { unsafe Array($0) })
    }

    /// Returns true if `signature`, in ASN.1 DER, is valid for SHA-256 of `message`; false also for a malformed
    /// signature.
    package func verify(_ signature: [UInt8], of message: [UInt8]) throws(OpenSSLError) -> Bool {
        do throws(OpenSSLError) {
            return try contexts.withContext { context throws(OpenSSLError) in
                try context.verifyOwn(signature, of: message)
            }
        } catch {
            guard contexts.hasMultiples else { throw error }
            // Whatever the cause, the key continues without precomputed multiples.
            contexts.use(nil)
            return try contexts.withContext { context throws(OpenSSLError) in
                try context.verify(signature, of: message)
            }
        }
    }

    /// Returns true if `signature`, in ASN.1 DER, is valid for a digest of `message`; false also for a malformed
    /// signature.
    package func verify(
        _ signature: [UInt8], of message: [UInt8], hashedBy digest: SignatureDigest
    ) throws(OpenSSLError) -> Bool {
        try contexts.withContext { context throws(OpenSSLError) in
            try context.verify(signature, of: message, hashedBy: digest)
        }
    }

    /// True if the multiples from ``precompute(provenBy:of:)`` are in use.
    package var isPrecomputed: Bool { contexts.hasMultiples }

    /// Precomputes multiples of the key. Valid signatures are then verified in about half the time. This takes tens of
    /// milliseconds of CPU time and 150 kB of memory.
    /// - Parameters:
    ///   - signature: a valid signature. The precomputed verifier must accept it for `message`, but refuse it for
    ///     another message.
    ///   - message: the message that the signature covers.
    /// - Returns: false if the multiples are already in use, or cannot help on this architecture.
    package func precompute(provenBy signature: [UInt8], of message: [UInt8]) throws(OpenSSLError) -> Bool {
        // On other architectures, libcrypto has no code that uses the table, so precomputation gains nothing.
        #if arch(x86_64) || arch(arm64)
            guard !contexts.hasMultiples else { return false }
            let multiples = try PrecomputedPublicKey(of: unsafe PublicKeyWriter.point(of: contexts.pkey))
            let verifier = try PrecomputedVerifier(by: multiples)
            let digest = try SHA256Digest()
            let isGoodAccepted = verifier.accepts(signature, ofHash: try digest.hash(message))
            let isBadAccepted = verifier.accepts(signature, ofHash: try digest.hash(message + [0]))
            guard isGoodAccepted, !isBadAccepted else {
                throw OpenSSLError(
                    call: "EC_POINT_mul", reasons: ["the precomputed verifier cannot tell good signatures from bad"])
            }
            contexts.use(multiples)
            return true
        #else
            return false
        #endif
    }

    package func releasePrecomputation() { if contexts.hasMultiples { contexts.use(nil) } }

    private static func read(_ der: [UInt8]) throws(OpenSSLError) -> OpaquePointer {
        let parsed = unsafe der.withUnsafeBufferPointer { buffer -> OpaquePointer? in
            var cursor = buffer.baseAddress
            guard let pkey = unsafe d2i_PUBKEY(nil, &cursor, buffer.count) else { return nil }
            guard unsafe cursor == buffer.baseAddress.map({ unsafe $0 + buffer.count }) else {
                unsafe EVP_PKEY_free(pkey)
                return nil
            }
            return unsafe pkey
        }
        guard let parsed = unsafe parsed else { throw .draining(after: "d2i_PUBKEY") }
        return unsafe parsed
    }
}

enum PublicKeyWriter {
    /// Encodes the point of a P-256 key according to SEC 1 section 2.3.3.
    static func point(of pkey: OpaquePointer) throws(OpenSSLError) -> [UInt8] {
        var point = [UInt8](repeating: 0, count: 65)
        var count = 0
        ERR_clear_error()
        guard
            unsafe EVP_PKEY_get_octet_string_param(pkey, OSSL_PKEY_PARAM_PUB_KEY, &point, point.count, &count) == 1
        else { throw .draining(after: "EVP_PKEY_get_octet_string_param") }
        return Array(point.prefix(count))
    }

    /// Encodes SubjectPublicKeyInfo in ASN.1 DER.
    static func der(of pkey: OpaquePointer) throws(OpenSSLError) -> [UInt8] {
        var data: UnsafeMutablePointer<UInt8>?
        let count = unsafe i2d_PUBKEY(pkey, &data)
        guard count > 0, let data = unsafe data else { throw .draining(after: "i2d_PUBKEY") }
        defer { unsafe CRYPTO_free(data, #file, #line) }
        return unsafe Array(UnsafeBufferPointer(start: data, count: Int(count)))
    }
}
