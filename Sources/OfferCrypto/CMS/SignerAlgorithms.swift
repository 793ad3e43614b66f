import COpenSSL

/// The algorithms of a SignerInfo (RFC 5652 section 5.3).
enum SignerAlgorithms {
    /// - Returns: the digest, a static object of libcrypto.
    static func digest(of signer: OpaquePointer) throws(SignedMessageError) -> OpaquePointer? {
        var digest: UnsafeMutablePointer<X509_ALGOR>?
        var signature: UnsafeMutablePointer<X509_ALGOR>?
        unsafe CMS_SignerInfo_get0_algs(signer, nil, nil, &digest, &signature)
        guard let digest = unsafe digest, let signature = unsafe signature else { throw .unsupportedAlgorithm }
        let signatureName = unsafe OBJ_obj2nid(signature.pointee.algorithm)
        // rsaEncryption names no digest, so the digest field determines it. libcrypto does not compare the two fields.
        switch unsafe OBJ_obj2nid(digest.pointee.algorithm) {
        case NID_sha1 where signatureName == NID_rsaEncryption: return unsafe EVP_sha1()
        case NID_sha256 where [NID_rsaEncryption, NID_sha256WithRSAEncryption].contains(signatureName):
            return unsafe EVP_sha256()
        default: throw .unsupportedAlgorithm
        }
    }
}

extension X509Certificate {
    /// True if the public key is RSA with a modulus and an exponent of usual sizes. Other keys may be weak or slow.
    var hasUsualRSAKey: Bool {
        guard let key = unsafe X509_get0_pubkey(pointer), unsafe EVP_PKEY_is_a(key, "RSA") == 1,
            unsafe (2048...4096).contains(EVP_PKEY_get_bits(key))
        else { return false }
        var exponent: OpaquePointer?
        defer { unsafe BN_free(exponent) }
        return unsafe EVP_PKEY_get_bn_param(key, OSSL_PKEY_PARAM_RSA_E, &exponent) == 1
            && BN_num_bits(exponent) <= TokenVerificationKey.maximumExponentSize
    }
}
