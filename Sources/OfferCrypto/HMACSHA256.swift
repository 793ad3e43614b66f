import COpenSSL

/// HMAC with SHA-256 (RFC 2104).
package enum HMACSHA256 {
    /// - Parameter key: not empty.
    /// - Returns: 32 bytes.
    package static func code(of message: [UInt8], under key: [UInt8]) throws(OpenSSLError) -> [UInt8] {
        ERR_clear_error()
        var code = [UInt8](repeating: 0, count: 32)
        var count = 0
        let isMade =
            unsafe EVP_Q_mac(
                nil, "HMAC", nil, "SHA256", nil, key, key.count, message, message.count, &code, code.count, &count)
            != nil
        guard isMade, count == 32 else { throw .draining(after: "EVP_Q_mac") }
        return code
    }
}
