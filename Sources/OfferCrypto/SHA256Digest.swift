import COpenSSL

/// A reusable SHA-256 context. The algorithm is fetched from libcrypto only once.
@safe struct SHA256Digest: ~Copyable {
    // This is never changed after init. According to openssl-threads(7), threads can share it.
    private nonisolated(unsafe) static let algorithm = unsafe EVP_MD_fetch(nil, "SHA256", nil)

    private let context: OpaquePointer

    init() throws(OpenSSLError) {
        guard let context = unsafe EVP_MD_CTX_new() else { throw .draining(after: "EVP_MD_CTX_new") }
        unsafe self.context = unsafe context
    }

    deinit { unsafe EVP_MD_CTX_free(context) }

    /// - Parameter rest: the second part of the message.
    func hash(_ message: [UInt8], _ rest: ArraySlice<UInt8> = []) throws(OpenSSLError) -> InlineArray<32, UInt8> {
        var digest = InlineArray<32, UInt8>(repeating: 0)
        var bytes = digest.mutableSpan
        guard unsafe EVP_DigestInit_ex2(context, Self.algorithm, nil) == 1,
            unsafe EVP_DigestUpdate(context, message, message.count) == 1,
            unsafe rest.withUnsafeBufferPointer({ unsafe EVP_DigestUpdate(context, $0.baseAddress, $0.count) }) == 1,
            unsafe bytes.withUnsafeMutableBufferPointer({ unsafe EVP_DigestFinal_ex(context, $0.baseAddress, nil) })
                == 1
        else { throw .draining(after: "EVP_DigestInit_ex2, EVP_DigestUpdate or EVP_DigestFinal_ex") }
        return digest
    }
}

/// SHA-256 (FIPS 180-4).
package enum SHA256 {
    /// - Returns: 32 bytes.
    package static func hash(_ message: [UInt8]) throws(OpenSSLError) -> [UInt8] { try hash(message, []) }

    /// Hashes the concatenation of `one` and `other`.
    @Sendable package static func hash(_ one: [UInt8], _ other: ArraySlice<UInt8>) throws(OpenSSLError) -> [UInt8] {
        let digest = try SHA256Digest().hash(one, other)
        return unsafe digest.span.withUnsafeBufferPointer { unsafe Array($0) }
    }
}
