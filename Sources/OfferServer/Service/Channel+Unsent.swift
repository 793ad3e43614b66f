import NIOCore

extension Channel {
    /// Whether the client does not take its answers: what the kernel could not take either is still here.
    var hasUnsentAnswers: Bool { ((try? syncOptions?.getOption(.bufferedWritableBytes)) ?? 0) > 0 }
}
