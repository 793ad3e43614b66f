import COpenSSL

/// SHA-1 (FIPS 180-4), which is broken. Only the device hash of app receipts uses it.
package enum SHA1 {
    /// - Returns: 20 bytes.
    package static func hash(_ message: [UInt8]) throws(OpenSSLError) -> [UInt8] {
        ERR_clear_error()
        var digest = [UInt8](repeating: 0, count: 20)
        guard unsafe EVP_Digest(message, message.count, &digest, nil, EVP_sha1(), nil) == 1 else {
            throw .draining(after: "EVP_Digest")
        }
        return digest
    }
}
