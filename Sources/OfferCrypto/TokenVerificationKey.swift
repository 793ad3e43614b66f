import COpenSSL
package import OfferCore

/// A public key owned by libcrypto that verifies the signatures of users' tokens (JWS, RFC 7515).
///
/// The initializers take the numbers of a JWK, decoded from base64url.
@safe package final class TokenVerificationKey: Sendable {
    // This is never changed after init, and each call uses its own context, so threads can share it. See
    // openssl-threads(7).
    private nonisolated(unsafe) let pkey: OpaquePointer
    private let kind: TokenKeyKind

    /// The maximum size of an RSA modulus, in bits. libcrypto takes 0.15 s to check a key of this size.
    package static let maximumModulusSize = 8192
    /// The maximum size of an RSA exponent, in bits. Nearly all keys use 65537. Verification time grows with the
    /// exponent.
    package static let maximumExponentSize = 33

    /// Creates an RSA key (RFC 7518 section 6.3.1). libcrypto checks that the modulus is composite and has no small
    /// factors. These checks take about 4 ms for 2048 bits.
    /// - Parameters:
    ///   - modulus: `n`, big-endian.
    ///   - exponent: `e`, big-endian.
    package convenience init(rsaModulus modulus: [UInt8], exponent: [UInt8]) throws(OpenSSLError) {
        guard BigEndianNumber.bitCount(modulus) <= Self.maximumModulusSize,
            BigEndianNumber.bitCount(exponent) <= Self.maximumExponentSize
        else {
            throw OpenSSLError(call: "EVP_PKEY_fromdata", reasons: ["modulus or exponent too large"])
        }
        var (n, e) = (Self.inMachineOrder(modulus), Self.inMachineOrder(exponent))
        ERR_clear_error()
        let pkey = unsafe n.withUnsafeMutableBufferPointer { n in
            unsafe e.withUnsafeMutableBufferPointer { e in
                unsafe Self.makeKey(
                    "RSA",
                    [
                        offer_rsa_modulus_parameter(n.baseAddress, n.count),
                        offer_rsa_exponent_parameter(e.baseAddress, e.count), OSSL_PARAM_construct_end(),
                    ])
            }
        }
        try unsafe self.init(owning: pkey, .rsa)
    }

    /// Creates an ECDSA key (RFC 7518 section 6.2.1).
    /// - Parameters:
    ///   - x: big-endian, exactly ``TokenCurve/numberSize`` bytes.
    ///   - y: a number in the same form as `x`.
    /// - Throws: an error if libcrypto fails or the point is not on the curve.
    package convenience init(_ curve: TokenCurve, x: [UInt8], y: [UInt8]) throws(OpenSSLError) {
        guard x.count == curve.numberSize, y.count == curve.numberSize else {
            throw OpenSSLError(call: "EVP_PKEY_fromdata", reasons: ["wrong coordinate size"])
        }
        var name = Array(curve.rawValue.utf8CString)
        var point = [0x04] + x + y  // uncompressed: SEC 1 section 2.3.3
        ERR_clear_error()
        let pkey = unsafe name.withUnsafeMutableBufferPointer { name in
            unsafe point.withUnsafeMutableBufferPointer { point in
                unsafe Self.makeKey(
                    "EC",
                    [
                        offer_group_name_parameter(name.baseAddress),
                        offer_public_point_parameter(point.baseAddress, point.count), OSSL_PARAM_construct_end(),
                    ])
            }
        }
        try unsafe self.init(owning: pkey, .ellipticCurve(curve))
    }

    /// Creates an Ed25519 key (RFC 8037 section 2). libcrypto 3.0 also accepts bytes that do not encode a point on the
    /// curve, but no signature verifies with the resulting key.
    /// - Parameter x: the point's encoding (RFC 8032 section 5.1.2), 32 bytes.
    package convenience init(ed25519 x: [UInt8]) throws(OpenSSLError) {
        var point = x
        ERR_clear_error()
        let pkey = unsafe point.withUnsafeMutableBufferPointer { point in
            unsafe Self.makeKey(
                "ED25519", [offer_public_point_parameter(point.baseAddress, point.count), OSSL_PARAM_construct_end()])
        }
        try unsafe self.init(owning: pkey, .ed25519)
    }

    /// - Parameter pkey: nil if `EVP_PKEY_fromdata` failed.
    private init(owning pkey: OpaquePointer?, _ kind: TokenKeyKind) throws(OpenSSLError) {
        guard let pkey = unsafe pkey else { throw .draining(after: "EVP_PKEY_fromdata") }
        unsafe self.pkey = unsafe pkey
        self.kind = kind
        guard let context = unsafe EVP_PKEY_CTX_new_from_pkey(nil, pkey, nil) else {
            throw .draining(after: "EVP_PKEY_CTX_new_from_pkey")
        }
        defer { unsafe EVP_PKEY_CTX_free(context) }
        guard unsafe EVP_PKEY_public_check(context) == 1 else { throw .draining(after: "EVP_PKEY_public_check") }
    }

    deinit { unsafe EVP_PKEY_free(pkey) }

    /// Returns true if `signature`, in its JWS encoding, is valid for `message`; false also for a malformed signature
    /// or an algorithm that does not suit this kind of key.
    /// - Throws: an error if libcrypto cannot set up the verification, for example because memory ran out.
    package func verify(
        _ signature: [UInt8], of message: [UInt8], by algorithm: TokenAlgorithm
    ) throws(OpenSSLError) -> Bool {
        guard kind.algorithms.contains(algorithm), let signature = inLibcryptoForm(signature) else { return false }
        ERR_clear_error()
        guard let context = unsafe EVP_MD_CTX_new() else { throw .draining(after: "EVP_MD_CTX_new") }
        defer { unsafe EVP_MD_CTX_free(context) }
        var keyContext: OpaquePointer?  // belongs to `context`
        guard
            unsafe EVP_DigestVerifyInit_ex(context, &keyContext, algorithm.digestName, nil, nil, pkey, nil) == 1,
            unsafe Self.setPadding(of: algorithm, in: keyContext)
        else { throw .draining(after: "EVP_DigestVerifyInit_ex or EVP_PKEY_CTX_set_rsa_padding") }
        // 1 means valid, 0 means invalid, and a negative value means malformed, so only 1 is success.
        let verdict = unsafe EVP_DigestVerify(context, signature, signature.count, message, message.count)
        if verdict != 1 { ERR_clear_error() }
        return verdict == 1
    }

    /// Converts an ECDSA signature from fixed-size r and s (RFC 7518 section 3.4) to ASN.1 DER. Returns any other
    /// signature unchanged.
    /// - Returns: nil if an ECDSA or RSA signature has the wrong size.
    private func inLibcryptoForm(_ signature: [UInt8]) -> [UInt8]? {
        switch kind {
        case .rsa:
            // A signature is as long as the modulus (RFC 8017 section 8.1.2). libcrypto also accepts one without its
            // leading zeros.
            return unsafe signature.count == Int(EVP_PKEY_get_size(pkey)) ? signature : nil
        case .ellipticCurve(let curve):
            guard signature.count == 2 * curve.numberSize else { return nil }
            return ECDSASignatureDER.text(r: signature[..<curve.numberSize], s: signature[curve.numberSize...])
        case .ed25519: return signature
        }
    }

    private static func setPadding(of algorithm: TokenAlgorithm, in context: OpaquePointer?) -> Bool {
        switch algorithm {
        case .rs256, .rs384, .rs512:
            return unsafe EVP_PKEY_CTX_set_rsa_padding(context, RSA_PKCS1_PADDING) == 1
        case .ps256, .ps384, .ps512:
            // RFC 7518 section 3.5: MGF1 uses the same digest, and the salt is as long as the digest.
            return unsafe EVP_PKEY_CTX_set_rsa_padding(context, RSA_PKCS1_PSS_PADDING) == 1
                && EVP_PKEY_CTX_set_rsa_mgf1_md_name(context, algorithm.digestName, nil) == 1
                && EVP_PKEY_CTX_set_rsa_pss_saltlen(context, RSA_PSS_SALTLEN_DIGEST) == 1
        case .es256, .es384, .es512, .edDSA: return true
        }
    }

    /// - Returns: nil on failure, with the reasons on libcrypto's error queue.
    private static func makeKey(_ type: String, _ parameters: [OSSL_PARAM]) -> OpaquePointer? {
        guard let context = unsafe EVP_PKEY_CTX_new_from_name(nil, type, nil) else { return nil }
        defer { unsafe EVP_PKEY_CTX_free(context) }
        var parameters = unsafe parameters
        return unsafe offer_public_key(context, &parameters)
    }

    /// Converts a big-endian number to native byte order, which `OSSL_PARAM` requires.
    private static func inMachineOrder(_ number: [UInt8]) -> [UInt8] {
        1.littleEndian == 1 ? number.reversed() : number
    }
}

extension TokenAlgorithm {
    /// libcrypto's name for the digest; nil for Ed25519, whose hash is part of the algorithm (RFC 8032 section 5.1).
    fileprivate var digestName: String? {
        switch self {
        case .rs256, .ps256, .es256: "SHA256"
        case .rs384, .ps384, .es384: "SHA384"
        case .rs512, .ps512, .es512: "SHA512"
        case .edDSA: nil
        }
    }
}
