import COpenSSL
import OfferCore

/// An ECDSA P-256 private key owned by libcrypto. Its bytes never come back out.
@safe package final class SigningKey: SigningKeyPair {
    private let contexts: ECDSAContextPool

    package let fingerprint: String

    /// The form that the text was in, such as `PKCS #8, PEM`.
    package let form: String

    /// Reads the key and proves that it signs: a signature over random bytes has to verify with its public half.
    /// - Parameter text: the unencrypted key as PEM, as App Store Connect issues it, or in another form of ``KeyText``.
    package init(text: [UInt8]) throws(SigningKeyError) {
        let (form, pkey) = try unsafe PrivateKeyReader.read(text)
        self.form = form
        contexts = unsafe ECDSAContextPool(owning: pkey, canSign: true)
        // By name, not by size: secp256k1 has 256 bits too.
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

    package func sign(_ message: [UInt8]) throws(OpenSSLError) -> [UInt8] {
        try contexts.withContext { context throws(OpenSSLError) in try context.sign(message) }
    }

    package func verify(_ signature: [UInt8], of message: [UInt8]) throws(OpenSSLError) -> Bool {
        try contexts.withContext { context throws(OpenSSLError) in try context.verify(signature, of: message) }
    }

    package func verifyOwn(_ signature: [UInt8], of message: [UInt8]) throws(OpenSSLError) -> Bool {
        do throws(OpenSSLError) {
            return try contexts.withContext { context throws(OpenSSLError) in
                try context.verifyOwn(signature, of: message)
            }
        } catch {
            // Whatever it was, the slower way is the surer one.
            contexts.use(nil)
            throw error
        }
    }

    package func prepare() throws(OpenSSLError) -> Bool {
        // For others libcrypto has no code that would be any quicker by multiples.
        #if arch(x86_64) || arch(arm64)
            guard !contexts.hasMultiples else { return false }
            let multiples = try PublicKeyMultiples(of: unsafe PublicKeyWriter.point(of: contexts.pkey))
            try prove(multiples)
            use(multiples)
            return true
        #else
            return false
        #endif
    }

    package func unprepare() { if contexts.hasMultiples { contexts.use(nil) } }

    /// - Parameter multiples: proven ones, of the public half.
    package func use(_ multiples: PublicKeyMultiples) { contexts.use(multiples) }

    /// Those by which everything verified would let a bad signature out.
    /// - Throws: if they do not tell a good signature from a bad one.
    package func prove(_ multiples: PublicKeyMultiples) throws(OpenSSLError) {
        let verification = try QuickVerification(by: multiples)
        let digest = try SHA256Digest()
        let message = try RandomBytes.make(count: 32)
        let signature = try sign(message)
        let isGoodAccepted = verification.accepts(signature, ofHash: try digest.hash(message))
        let isBadAccepted = verification.accepts(signature, ofHash: try digest.hash(message + [0]))
        guard isGoodAccepted, !isBadAccepted else {
            throw OpenSSLError(
                call: "EC_POINT_mul", reasons: ["the public key's multiples tell no good signature from a bad one"])
        }
    }

    /// The public half, which may be shown to anyone.
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
