import NIOCore

/// What a connection goes through: just ``RequestHandler``.
struct ConnectionSetup: Sendable {
    let routes: Routes
    let date: HTTPDate

    /// - Parameter channel: one that has just been accepted, on its own event loop.
    func setUp(_ channel: any Channel) throws {
        // One short read a turn, so that a client that sends hundreds of requests at once does not hold up others.
        try channel.syncOptions?.setOption(.maxMessagesPerRead, value: 1)
        try channel.syncOptions?.setOption(
            .recvAllocator, value: AdaptiveRecvByteBufferAllocator(minimum: 1024, initial: 2048, maximum: 16 * 1024))
        try channel.pipeline.syncOperations.addHandler(RequestHandler(routes: routes, date: date))
    }
}
