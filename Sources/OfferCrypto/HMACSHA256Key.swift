import COpenSSL
import NIOConcurrencyHelpers

/// A key for HMAC with SHA-256 (RFC 2104), prepared once: to fetch the algorithm and prepare the key at every call, as
/// ``HMACSHA256`` does, takes several times as long as the code itself.
@safe package final class HMACSHA256Key: Sendable {
    // Reached only under the lock, so threads never share it.
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
                OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_DIGEST, digest.baseAddress, 0),
                OSSL_PARAM_construct_end(),
            ]
            return unsafe EVP_MAC_init(pointer, key, key.count, parameters) == 1
        }
        guard isReady else { throw .draining(after: "EVP_MAC_init") }
    }

    deinit { context.withLockedValue { unsafe EVP_MAC_CTX_free($0.pointer) } }

    /// - Returns: 32 bytes.
    package func code(of message: [UInt8]) throws(OpenSSLError) -> [UInt8] {
        ERR_clear_error()
        var code = [UInt8](repeating: 0, count: 32)
        var count = 0
        let isMade = context.withLockedValue { context in
            // Without a key it begins anew with the one it has.
            unsafe EVP_MAC_init(context.pointer, nil, 0, nil) == 1
                && EVP_MAC_update(context.pointer, message, message.count) == 1
                && EVP_MAC_final(context.pointer, &code, &count, code.count) == 1
        }
        guard isMade, count == 32 else { throw .draining(after: "EVP_MAC_init, EVP_MAC_update or EVP_MAC_final") }
        return code
    }
}
