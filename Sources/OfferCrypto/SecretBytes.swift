import COpenSSL

/// The bytes of a secret, such as the text of a private key, overwritten with zeros when the last reference is released.
///
/// An array cannot do this: it is copied if it grows, or changes while shared, and the old bytes stay in memory.
@safe package final class SecretBytes: Sendable {
    // This is written only in init, so threads can share it.
    private nonisolated(unsafe) let buffer: UnsafeMutableBufferPointer<UInt8>
    package let count: Int

    /// - Parameters:
    ///   - capacity: the capacity in bytes.
    ///   - fill: a function that writes the bytes from the start of the span and returns their number.
    package init<Failure: Error>(
        capacity: Int, _ fill: (inout MutableSpan<UInt8>) throws(Failure) -> Int
    ) throws(Failure) {
        let buffer = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: capacity)
        unsafe buffer.initialize(repeating: 0)
        do throws(Failure) {
            var span = unsafe buffer.mutableSpan
            count = try fill(&span)
        } catch {
            unsafe Self.release(buffer)
            throw error
        }
        unsafe self.buffer = unsafe buffer
    }

    package convenience init(copying bytes: some Collection<UInt8>) {
        self.init(capacity: bytes.count) { span in
            var index = 0
            for byte in bytes {
                span[index] = byte
                index += 1
            }
            return index
        }
    }

    deinit { unsafe Self.release(buffer) }

    private static func release(_ buffer: UnsafeMutableBufferPointer<UInt8>) {
        unsafe OPENSSL_cleanse(buffer.baseAddress, buffer.count)
        unsafe buffer.deallocate()
    }

    /// Lends the bytes to `body`, which must not let the pointer escape.
    func withBytes<Result: ~Copyable, Failure: Error>(
        _ body: (UnsafeBufferPointer<UInt8>) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try unsafe body(UnsafeBufferPointer(rebasing: buffer.prefix(count)))
    }

    /// Lends the bytes to `body`, which must not copy them to memory that is not wiped.
    package func withSpan<Result, Failure: Error>(
        _ body: (Span<UInt8>) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try body(unsafe UnsafeBufferPointer(buffer).span.extracting(first: count))
    }
}

extension SecretBytes: Equatable {
    /// Compares in a time that does not depend on the content.
    package static func == (one: SecretBytes, other: SecretBytes) -> Bool {
        guard one.count == other.count else { return false }
        return unsafe CRYPTO_memcmp(one.buffer.baseAddress, other.buffer.baseAddress, one.count) == 0
    }
}
