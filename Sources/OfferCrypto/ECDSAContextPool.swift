import COpenSSL
import NIOConcurrencyHelpers

/// The contexts of one key that no thread uses right now. There are as many as threads ever worked at the same time.
@safe final class ECDSAContextPool: Sendable {
    // A context is either in here or with the one thread that took it, never both, so threads never share one.
    private struct Free: @unchecked Sendable {
        var contexts: [ECDSAContext] = []
    }

    private let free = NIOLockedValueBox(Free())
    // Never changed after init; contexts count references of their own: openssl-threads(7).
    nonisolated(unsafe) let pkey: OpaquePointer
    private let canSign: Bool

    /// Takes over `pkey`.
    init(owning pkey: OpaquePointer, canSign: Bool) {
        unsafe self.pkey = unsafe pkey
        self.canSign = canSign
    }

    deinit { unsafe EVP_PKEY_free(pkey) }

    /// Lends a context to `body`. After an error it is thrown away.
    func withContext<Result>(
        _ body: (ECDSAContext) throws(OpenSSLError) -> Result
    ) throws(OpenSSLError) -> Result {
        let context =
            if let free = free.withLockedValue({ $0.contexts.popLast() }) { free } else {
                try unsafe ECDSAContext(pkey: pkey, canSign: canSign)
            }
        let result = try body(context)
        free.withLockedValue { $0.contexts.append(context) }
        return result
    }
}
