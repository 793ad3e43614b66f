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

    package func prepare() throws(OpenSSLError) -> Bool {
        guard !contexts.hasMultiples else { return false }
        let multiples = try unsafe PublicKeyMultiples(pkey: contexts.pkey)
        try prove(multiples)
        contexts.use(multiples)
        return true
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

    /// A verification that took everything for good would let a bad signature out.
    private func prove(_ multiples: PublicKeyMultiples) throws(OpenSSLError) {
        let verification = try QuickVerification(by: multiples)
        let message = try RandomBytes.make(count: 32)
        let signature = try sign(message)
        let digest = try SHA256Digest()
        guard verification.accepts(signature, ofHash: try digest.hash(message)),
            verification.accepts(signature, ofHash: try digest.hash(RandomBytes.make(count: 32))) == false
        else {
            throw OpenSSLError(
                call: "EC_POINT_mul", reasons: ["multiples of the public key tell no good signature from a bad one"])
        }
    }

    private static func algorithmName(of pkey: OpaquePointer) -> String {
        unsafe EVP_PKEY_get0_type_name(pkey).map { unsafe String(cString: $0) } ?? "an unknown algorithm"
    }
}
