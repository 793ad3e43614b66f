import COpenSSL
package import OfferCore

/// libcrypto's secure heap, which stores private keys. It is separate memory between guard pages, locked in RAM,
/// excluded from core files and wiped when freed.
package enum SecureHeap {
    package enum State: Sendable {
        /// Keys are on the heap, and the system never writes it to swap space.
        case locked
        /// Keys are on the heap, but the system may write it to swap space.
        case notLocked
        /// Keys are in ordinary memory.
        case unavailable
    }

    /// The size in bytes, a power of two. A P-256 key takes 32 bytes, and a thread's random number generators take 256.
    /// If the heap were full, libcrypto would fail instead of using other memory, so most of the heap is spare.
    package static let size = 512 * 1024

    /// The size of the smallest allocation, in bytes. The heap's bookkeeping takes one bit for each unit of this size.
    private static let minimumSize = 32

    /// The state of the heap. The first read of this property sets up the heap. Read it before any key is read, while
    /// no other thread uses libcrypto.
    package static let state: State = {
        // Without this flag, libcrypto frees its tables when the process exits, while other threads may still use them.
        // Signatures are complete by then, but the crash would look like a failure of the service.
        OPENSSL_init_crypto(UInt64(OPENSSL_INIT_NO_ATEXIT), nil)
        let result = CRYPTO_secure_malloc_init(size, minimumSize)
        guard result != 0, isUsedForKeys else { return .unavailable }
        return result == 1 ? .locked : .notLocked
    }()

    /// True if private keys are stored on the heap, as a test with a temporary key shows.
    private static var isUsedForKeys: Bool {
        guard let pem = try? PrivateKeyPEM.generate() else { return false }
        let before = CRYPTO_secure_used()
        guard let (_, pkey) = unsafe try? PrivateKeyReader.read(SecretBytes(copying: pem)) else { return false }
        defer { unsafe EVP_PKEY_free(pkey) }
        return CRYPTO_secure_used() >= before + 32
    }
}

extension SecureHeap.State {
    /// The reason that keys are not fully protected; nil if they are on the locked heap.
    package var problem: Diagnostic? {
        switch self {
        case .locked: nil
        case .notLocked:
            Diagnostic(
                "private keys are on libcrypto's secure heap, but the system did not lock it in memory, so it may be "
                    + "written to swap space",
                hint: "allow the service to lock \(SecureHeap.size / 1024) KiB (ulimit -l), or turn off swap")
        case .unavailable:
            Diagnostic(
                "private keys are in ordinary memory, because libcrypto's secure heap is not available",
                hint: "use a libcrypto that is built with secure memory, as distributions provide it")
        }
    }
}
