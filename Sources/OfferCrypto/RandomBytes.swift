import COpenSSL

/// A source of random bytes from libcrypto's generator.
enum RandomBytes {
    static func make(count: Int) throws(OpenSSLError) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        guard unsafe RAND_bytes(&bytes, Int32(count)) == 1 else { throw .draining(after: "RAND_bytes") }
        return bytes
    }
}

/// A generator of random secrets, such as the random part of a caller's token or an HMAC key.
package enum RandomSecret {
    /// - Returns: 32 bytes.
    package static func make() throws(OpenSSLError) -> [UInt8] { try RandomBytes.make(count: 32) }
}
