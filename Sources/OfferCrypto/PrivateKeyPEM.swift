import COpenSSL

/// A generator of P-256 private keys for development and tests. App Store Connect issues the real keys.
package enum PrivateKeyPEM {
    /// - Returns: a new key as unencrypted PKCS #8 PEM, which the caller must keep secret.
    package static func generate() throws(OpenSSLError) -> [UInt8] {
        ERR_clear_error()
        guard let pkey = unsafe offer_generate_p256_key() else { throw .draining(after: "EVP_PKEY_Q_keygen") }
        defer { unsafe EVP_PKEY_free(pkey) }
        guard let bio = unsafe BIO_new(BIO_s_secmem()) else { throw .draining(after: "BIO_new") }
        defer { unsafe BIO_free(bio) }
        guard unsafe PEM_write_bio_PKCS8PrivateKey(bio, pkey, nil, nil, 0, nil, nil) == 1 else {
            throw .draining(after: "PEM_write_bio_PKCS8PrivateKey")
        }
        var pem = [UInt8](repeating: 0, count: 1024)
        let count = unsafe BIO_read(bio, &pem, Int32(pem.count))
        guard count > 0 else { throw .draining(after: "BIO_read") }
        pem.removeLast(pem.count - Int(count))
        return pem
    }
}
