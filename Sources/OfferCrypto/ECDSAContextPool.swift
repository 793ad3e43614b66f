import COpenSSL
import NIOConcurrencyHelpers

/// A pool of the idle contexts of one key. The pool grows to the number of threads that use the key at the same time.
@safe final class ECDSAContextPool: Sendable {
    // Each context is either in the pool or held by the one thread that took it, so threads never share a context.
    private struct Free: @unchecked Sendable {
        var contexts: [ECDSAContext] = []
        /// The precomputed public key that these contexts use.
        var multiples: PrecomputedPublicKey?
    }

    private let free = NIOLockedValueBox(Free())
    // This is never changed after init, and each context retains it. See openssl-threads(7).
    nonisolated(unsafe) let pkey: OpaquePointer
    private let canSign: Bool

    /// Takes ownership of `pkey`.
    init(owning pkey: OpaquePointer, canSign: Bool) {
        unsafe self.pkey = unsafe pkey
        self.canSign = canSign
    }

    /// Makes a pool that verifies with the public half of another pool's key but shares neither its lock nor its
    /// contexts.
    init(verifyingWithKeyOf other: ECDSAContextPool) {
        _ = unsafe EVP_PKEY_up_ref(other.pkey)
        unsafe pkey = unsafe other.pkey
        canSign = false
    }

    deinit { unsafe EVP_PKEY_free(pkey) }

    /// Lends a context to `body` and discards it if `body` throws.
    func withContext<Result>(
        _ body: (ECDSAContext) throws(OpenSSLError) -> Result
    ) throws(OpenSSLError) -> Result {
        let (last, multiples) = free.withLockedValue { ($0.contexts.popLast(), $0.multiples) }
        let context =
            if let last { last } else {
                try unsafe ECDSAContext(pkey: pkey, canSign: canSign, multiples: multiples)
            }
        let result = try body(context)
        // A context created before the last call to use(_:) is discarded.
        free.withLockedValue { if $0.multiples === multiples { $0.contexts.append(context) } }
        return result
    }

    /// True if contexts verify with a precomputed public key.
    var hasMultiples: Bool { free.withLockedValue { $0.multiples != nil } }

    /// Sets the precomputed public key that contexts use to verify the key's own signatures; nil for none.
    func use(_ multiples: PrecomputedPublicKey?) {
        var old = Free(multiples: multiples)
        // The old contexts are freed outside the lock, because signers may be waiting for it.
        free.withLockedValue { swap(&$0, &old) }
    }
}
