import COpenSSL
import NIOConcurrencyHelpers

/// The contexts of one key that no thread uses right now. There are as many as threads ever worked at the same time.
@safe final class ECDSAContextPool: Sendable {
    // A context is either in here or with the one thread that took it, never both, so threads never share one.
    private struct Free: @unchecked Sendable {
        var contexts: [ECDSAContext] = []
        /// What those contexts verify the key's own signatures by.
        var multiples: PublicKeyMultiples?
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
        let (last, multiples) = free.withLockedValue { ($0.contexts.popLast(), $0.multiples) }
        let context =
            if let last { last } else {
                try unsafe ECDSAContext(pkey: pkey, canSign: canSign, multiples: multiples)
            }
        let result = try body(context)
        // One that was lent before there were multiples is not asked for again.
        free.withLockedValue { if $0.multiples === multiples { $0.contexts.append(context) } }
        return result
    }

    /// Whether contexts verify by multiples of the public key.
    var hasMultiples: Bool { free.withLockedValue { $0.multiples != nil } }

    /// Has contexts verify what the key has signed by multiples of the public key from now on; nil: without.
    func use(_ multiples: PublicKeyMultiples?) {
        var old = Free(multiples: multiples)
        // Let go of outside the lock, for which signers may be waiting.
        free.withLockedValue { swap(&$0, &old) }
    }
}
