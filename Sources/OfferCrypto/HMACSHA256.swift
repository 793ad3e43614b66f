/// HMAC-SHA256 (RFC 2104) with a key that is used once.
package enum HMACSHA256 {
    /// - Parameter key: not empty.
    /// - Returns: 32 bytes.
    package static func code(of message: [UInt8], under key: [UInt8]) throws(OpenSSLError) -> [UInt8] {
        try HMACSHA256Key(key).code(of: message)
    }
}
