import NIOCore

extension Channel {
    /// Whether response bytes are buffered in this process because the client is not reading and the kernel's buffer is
    /// full.
    var hasUnsentBytes: Bool { ((try? syncOptions?.getOption(.bufferedWritableBytes)) ?? 0) > 0 }
}
