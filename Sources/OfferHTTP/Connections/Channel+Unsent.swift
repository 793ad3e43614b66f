import NIOCore

extension Channel {
    /// Whether responses are waiting in this process because the client does not read and the kernel's buffer is full.
    var hasUnsentBytes: Bool { ((try? syncOptions?.getOption(.bufferedWritableBytes)) ?? 0) > 0 }
}
