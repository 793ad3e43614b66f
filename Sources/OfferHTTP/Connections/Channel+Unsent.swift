import NIOCore

extension Channel {
    /// Whether responses are waiting here because the client does not read: the kernel's buffer is full.
    var hasUnsentBytes: Bool { ((try? syncOptions?.getOption(.bufferedWritableBytes)) ?? 0) > 0 }
}
