import COpenSSL
package import OfferCore

/// An ECDSA P-256 private key owned by libcrypto. Its bytes are never exported.
@safe package final class SigningKey: PrecomputableKeyPair {
    private let contexts: ECDSAContextPool
    /// The contexts that verify signatures submitted by callers. Explanations use them at idle priority. A signer that shared
    /// their lock could wait for a thread that gets no CPU time.
    private let presentedContexts: ECDSAContextPool

    package let fingerprint: String

    /// The form of the key text, such as `PKCS #8, PEM`.
    package let form: String

    /// Parses the key and tests it: a signature over random bytes must verify with the public half.
    /// - Parameter text: the unencrypted key as PEM, as App Store Connect issues it, or another form of ``KeyText``.
    package init(text: SecretBytes) throws(SigningKeyError) {
        let (form, pkey) = try unsafe PrivateKeyReader.read(text)
        self.form = form
        contexts = unsafe ECDSAContextPool(owning: pkey, canSign: true)
        presentedContexts = ECDSAContextPool(verifyingWithKeyOf: contexts)
        // Checks the name, not the size, because secp256k1 also has 256 bits.
        guard unsafe EVP_PKEY_is_a(pkey, "EC") == 1 else {
            throw .notEllipticCurve(unsafe Self.algorithmName(of: pkey))
        }
        let curve = unsafe Curve.name(of: pkey)
        guard curve == Curve.p256 else { throw .wrongCurve(curve) }
        do throws(OpenSSLError) {
            fingerprint = Hexadecimal.text(of: try SHA256.hash(unsafe PublicKeyWriter.der(of: pkey)))
        } catch {
            throw .unreadable(error)
        }
        try proveThatHalvesMatch()
    }

    /// - Parameter text: a key in a form that ``KeyText`` lists. The caller's array is not wiped, so use this only for
    ///   test keys.
    package convenience init(text: [UInt8]) throws(SigningKeyError) {
        try self.init(text: SecretBytes(copying: text))
    }

    package func sign(_ message: [UInt8]) throws(OpenSSLError) -> [UInt8] {
        try contexts.withContext { context throws(OpenSSLError) in try context.sign(message) }
    }

    package func verify(_ signature: [UInt8], of message: [UInt8]) throws(OpenSSLError) -> Bool {
        try presentedContexts.withContext { context throws(OpenSSLError) in
            try context.verify(signature, of: message)
        }
    }

    package func verify(
        _ signature: [UInt8], of message: [UInt8], hashedBy digest: SignatureDigest
    ) throws(OpenSSLError) -> Bool {
        try presentedContexts.withContext { context throws(OpenSSLError) in
            try context.verify(signature, of: message, hashedBy: digest)
        }
    }

    package func verifyOwn(_ signature: [UInt8], of message: [UInt8]) throws(OpenSSLError) -> Bool {
        do throws(OpenSSLError) {
            return try contexts.withContext { context throws(OpenSSLError) in
                try context.verifyOwn(signature, of: message)
            }
        } catch {
            // Whatever the cause, the key continues without precomputed multiples.
            contexts.use(nil)
            throw error
        }
    }

    package func precompute() throws(OpenSSLError) -> Bool {
        // On other architectures, libcrypto has no code that uses the table, so precomputation gains nothing.
        #if arch(x86_64) || arch(arm64)
            guard !contexts.hasMultiples else { return false }
            let multiples = try PrecomputedPublicKey(of: unsafe PublicKeyWriter.point(of: contexts.pkey))
            try prove(multiples)
            use(multiples)
            return true
        #else
            return false
        #endif
    }

    package func releasePrecomputation() { if contexts.hasMultiples { contexts.use(nil) } }

    /// - Parameter multiples: the precomputed public half, which must have passed ``prove(_:)``.
    package func use(_ multiples: PrecomputedPublicKey) { contexts.use(multiples) }

    /// Tests a precomputed key. If the key accepted every signature, an invalid one could be sent.
    /// - Throws: an error if the precomputed key rejects a valid signature or accepts an invalid one.
    package func prove(_ multiples: PrecomputedPublicKey) throws(OpenSSLError) {
        let verification = try PrecomputedVerifier(by: multiples)
        let digest = try SHA256Digest()
        let message = try RandomBytes.make(count: 32)
        let signature = try sign(message)
        let isGoodAccepted = verification.accepts(signature, ofHash: try digest.hash(message))
        let isBadAccepted = verification.accepts(signature, ofHash: try digest.hash(message + [0]))
        guard isGoodAccepted, !isBadAccepted else {
            throw OpenSSLError(
                call: "EC_POINT_mul", reasons: ["the precomputed verifier cannot tell good signatures from bad"])
        }
    }

    /// The public half, which is not secret.
    package var verifyingKey: VerifyingKey {
        get throws(OpenSSLError) { try unsafe VerifyingKey(der: PublicKeyWriter.der(of: contexts.pkey)) }
    }

    private func proveThatHalvesMatch() throws(SigningKeyError) {
        let halvesMatch: Bool
        do throws(OpenSSLError) {
            let message = try RandomBytes.make(count: 32)
            halvesMatch = try verify(try sign(message), of: message)
        } catch {
            throw .unreadable(error)
        }
        guard halvesMatch else { throw .halvesDoNotMatch }
    }

    private static func algorithmName(of pkey: OpaquePointer) -> String {
        unsafe EVP_PKEY_get0_type_name(pkey).map { unsafe String(cString: $0) } ?? "an unknown algorithm"
    }
}
