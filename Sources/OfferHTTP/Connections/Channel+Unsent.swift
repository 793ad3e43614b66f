import NIOCore

extension Channel {
    /// Response bytes waiting in this process because the client does not read and the kernel's buffer is full.
    var unsentBytes: Int { (try? syncOptions?.getOption(.bufferedWritableBytes)) ?? 0 }

    var hasUnsentBytes: Bool { unsentBytes > 0 }
}
