import NIOCore

/// What a connection goes through: just ``RequestHandler``.
struct ConnectionSetup: Sendable {
    private let routes: Routes
    private let date = HTTPDate()
    /// Each reachable on its own event loop alone.
    private let batches: [ObjectIdentifier: NIOLoopBoundBox<AnswerBatch>]

    /// - Parameter group: whose event loops the connections will have.
    init(routes: Routes, group: any EventLoopGroup) {
        self.routes = routes
        batches = Dictionary(
            uniqueKeysWithValues: group.makeIterator().map { loop in
                (ObjectIdentifier(loop), .makeBoxSendingValue(AnswerBatch(), eventLoop: loop))
            })
    }

    /// - Parameter channel: one that has just been accepted, on its own event loop.
    func setUp(_ channel: any Channel) throws {
        // One short read a turn, so that a client that sends hundreds of requests at once does not hold up others.
        try channel.syncOptions?.setOption(.maxMessagesPerRead, value: 1)
        try channel.syncOptions?.setOption(
            .recvAllocator, value: AdaptiveRecvByteBufferAllocator(minimum: 1024, initial: 2048, maximum: 16 * 1024))
        // The group's loops are all there are.
        let batch = batches[ObjectIdentifier(channel.eventLoop)]?.value ?? AnswerBatch()
        try channel.pipeline.syncOperations.addHandler(RequestHandler(routes: routes, date: date, batch: batch))
    }
}
