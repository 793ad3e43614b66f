import COpenSSL

/// A libcrypto context for one ECDSA operation over SHA-256. It lives for one call and belongs to one thread.
@safe struct DigestContext: ~Copyable {
    private let context: OpaquePointer

    init() throws(OpenSSLError) {
        guard let context = unsafe EVP_MD_CTX_new() else { throw .draining(after: "EVP_MD_CTX_new") }
        unsafe self.context = unsafe context
    }

    deinit { unsafe EVP_MD_CTX_free(context) }

    /// - Returns: ASN.1 DER, at most 72 bytes.
    func sign(_ message: [UInt8], with pkey: OpaquePointer) throws(OpenSSLError) -> [UInt8] {
        guard unsafe EVP_DigestSignInit(context, nil, EVP_sha256(), nil, pkey) == 1 else {
            throw .draining(after: "EVP_DigestSignInit")
        }
        var count = Int(unsafe EVP_PKEY_get_size(pkey))
        var signature = [UInt8](repeating: 0, count: count)
        guard unsafe EVP_DigestSign(context, &signature, &count, message, message.count) == 1 else {
            throw .draining(after: "EVP_DigestSign")
        }
        signature.removeLast(signature.count - count)
        return signature
    }

    /// A malformed signature is a "no"; an error is thrown only where libcrypto could not do its work.
    func verify(_ signature: [UInt8], of message: [UInt8], with pkey: OpaquePointer) throws(OpenSSLError) -> Bool {
        guard unsafe EVP_DigestVerifyInit(context, nil, EVP_sha256(), nil, pkey) == 1 else {
            throw .draining(after: "EVP_DigestVerifyInit")
        }
        // 1 is yes, 0 a signature that does not verify, below 0 one that cannot be parsed: only 1 is success.
        let verdict = unsafe EVP_DigestVerify(context, signature, signature.count, message, message.count)
        ERR_clear_error()
        return verdict == 1
    }
}
