import COpenSSL
import NIOConcurrencyHelpers

/// A reusable key for HMAC-SHA256 (RFC 2104).
///
/// ``HMACSHA256`` fetches the algorithm and prepares the key on every call. These steps take several times as long as
/// computing the code.
@safe package final class HMACSHA256Key: Sendable {
    // The context is used only under the lock, so threads never use it at the same time.
    @safe private struct Context: @unchecked Sendable {
        let pointer: OpaquePointer
    }

    private let context: NIOLockedValueBox<Context>

    /// - Parameter key: not empty.
    package init(_ key: [UInt8]) throws(OpenSSLError) {
        ERR_clear_error()
        let algorithm = unsafe EVP_MAC_fetch(nil, "HMAC", nil)
        defer { unsafe EVP_MAC_free(algorithm) }
        guard let pointer = unsafe EVP_MAC_CTX_new(algorithm) else { throw .draining(after: "EVP_MAC_CTX_new") }
        unsafe context = NIOLockedValueBox(Context(pointer: pointer))
        var digest = Array("SHA256\0".utf8CString)
        let isReady = unsafe digest.withUnsafeMutableBufferPointer { digest in
            let parameters = unsafe [
                offer_mac_digest_parameter(digest.baseAddress), OSSL_PARAM_construct_end(),
            ]
            return unsafe EVP_MAC_init(pointer, key, key.count, parameters) == 1
        }
        guard isReady else { throw .draining(after: "EVP_MAC_init") }
    }

    deinit { context.withLockedValue { unsafe EVP_MAC_CTX_free($0.pointer) } }

    /// - Returns: 32 bytes.
    package func code(of message: [UInt8]) throws(OpenSSLError) -> [UInt8] { try code(of: message, []) }

    /// Computes the code of the concatenation of `one` and `other`.
    /// - Returns: 32 bytes.
    package func code(of one: [UInt8], _ other: ArraySlice<UInt8>) throws(OpenSSLError) -> [UInt8] {
        ERR_clear_error()
        var code = [UInt8](repeating: 0, count: 32)
        var count = 0
        let isMade = context.withLockedValue { context in
            // Without a key, EVP_MAC_init restarts with the previous one.
            unsafe EVP_MAC_init(context.pointer, nil, 0, nil) == 1
                && EVP_MAC_update(context.pointer, one, one.count) == 1
                && other.withUnsafeBufferPointer { other in
                    unsafe EVP_MAC_update(context.pointer, other.baseAddress, other.count) == 1
                }
                && EVP_MAC_final(context.pointer, &code, &count, code.count) == 1
        }
        guard isMade, count == 32 else { throw .draining(after: "EVP_MAC_init, EVP_MAC_update or EVP_MAC_final") }
        return code
    }
}
