import COpenSSL

/// The private number of a P-256 key, which only the import into a token needs.
@safe package enum PrivateNumber {
    /// Reads the number from the text of a key that ``SigningKey`` accepts.
    /// - Returns: 32 bytes, big-endian.
    package static func read(text: SecretBytes) throws(SigningKeyError) -> SecretBytes {
        let (_, pkey) = try unsafe PrivateKeyReader.read(text)
        defer { unsafe EVP_PKEY_free(pkey) }
        var number: OpaquePointer?
        guard unsafe EVP_PKEY_get_bn_param(pkey, OSSL_PKEY_PARAM_PRIV_KEY, &number) == 1 else {
            throw .unreadable(.draining(after: "EVP_PKEY_get_bn_param"))
        }
        defer { unsafe BN_clear_free(number) }
        return try SecretBytes(capacity: size) { span throws(SigningKeyError) in
            let count = unsafe span.withUnsafeMutableBufferPointer { buffer in
                unsafe BN_bn2binpad(number, buffer.baseAddress, Int32(size))
            }
            guard count == size else { throw .unreadable(.draining(after: "BN_bn2binpad")) }
            return size
        }
    }

    private static let size = 32
}
