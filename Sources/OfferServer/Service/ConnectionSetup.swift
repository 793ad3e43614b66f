import NIOCore

/// What a connection goes through: just ``RequestHandler``.
struct ConnectionSetup: Sendable {
    /// What the connections of one event loop share. Reachable on that loop alone.
    private struct Shared {
        let turn: LoopTurn
        let connections: ConnectionSet
    }

    private let routes: Routes
    private let date = HTTPDate()
    private let shared: [ObjectIdentifier: NIOLoopBoundBox<Shared>]

    /// - Parameters:
    ///   - group: whose event loops the connections will have.
    ///   - maximumConnections: how many there may be on all of them.
    init(routes: Routes, group: any EventLoopGroup, maximumConnections: Int) {
        self.routes = routes
        let loops = Array(group.makeIterator())
        shared = Dictionary(
            uniqueKeysWithValues: loops.map { loop in
                let limit = max(1, maximumConnections / loops.count)
                let shared = Shared(turn: LoopTurn(eventLoop: loop), connections: ConnectionSet(limit: limit))
                return (ObjectIdentifier(loop), .makeBoxSendingValue(shared, eventLoop: loop))
            })
    }

    /// - Parameter channel: one that has just been accepted, on its own event loop.
    func setUp(_ channel: any Channel) throws {
        guard let shared = shared[ObjectIdentifier(channel.eventLoop)]?.value else {
            preconditionFailure("a connection has one of the group's event loops")
        }
        // One short read a turn, so that a client that sends hundreds of requests at once does not hold up others.
        try channel.syncOptions?.setOption(.maxMessagesPerRead, value: 1)
        try channel.syncOptions?.setOption(
            .recvAllocator, value: AdaptiveRecvByteBufferAllocator(minimum: 1024, initial: 2048, maximum: 16 * 1024))
        let connection = OpenConnection(channel)
        shared.connections.add(connection)
        try channel.pipeline.syncOperations.addHandler(
            RequestHandler(routes: routes, date: date, turn: shared.turn, connection: connection))
    }
}
