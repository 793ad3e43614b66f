import CoreMetrics
package import NIOCore
import NIOHTTP2
import NIOSSL
import NIOTLS

/// What a connection goes through: TLS, where there is a certificate, and then ``RequestHandler``, or
/// ``HTTP2StreamHandler`` if the client chose HTTP/2 in the handshake.
package struct ConnectionSetup: Sendable {
    /// What the connections of one event loop share. Reachable on that loop alone.
    private struct Shared {
        let turn: LoopTurn
        let connections: ConnectionSet
    }

    private let routes: Routes
    private let certificate: CurrentCertificate
    private let readiness: Readiness
    private let metrics: ServiceMetrics
    private let date = HTTPDate()
    private let shared: [ObjectIdentifier: NIOLoopBoundBox<Shared>]

    /// - Parameters:
    ///   - trail: what has to be written before an answer leaves.
    ///   - group: whose event loops the connections will have.
    ///   - maximumConnections: how many there may be on all of them.
    package init(
        routes: Routes, certificate: CurrentCertificate, readiness: Readiness, trail: AuditTrail?,
        metrics: ServiceMetrics,
        group: any EventLoopGroup, maximumConnections: Int
    ) {
        self.routes = routes
        self.certificate = certificate
        self.readiness = readiness
        self.metrics = metrics
        let loops = Array(group.makeIterator())
        shared = Dictionary(
            uniqueKeysWithValues: loops.map { loop in
                let limit = max(1, maximumConnections / loops.count)
                let connections = ConnectionSet(limit: limit, metrics: metrics)
                let shared = Shared(turn: LoopTurn(eventLoop: loop, trail: trail), connections: connections)
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
        if let context = certificate.context {
            try addTLS(context, connection, turn: shared.turn)
        } else {
            try addHTTP1(connection, turn: shared.turn)
        }
    }

    private func addHTTP1(_ connection: OpenConnection, turn: LoopTurn) throws {
        try connection.channel.pipeline.syncOperations.addHandler(
            RequestHandler(routes: routes, date: date, turn: turn, connection: connection))
    }

    private func addTLS(_ context: NIOSSLContext, _ connection: OpenConnection, turn: LoopTurn) throws {
        let channel = connection.channel
        let deadline = channel.eventLoop.assumeIsolated().scheduleTask(in: TimeLimit.handshake) {
            channel.close(promise: nil)
        }
        channel.closeFuture.assumeIsolated().whenComplete { _ in deadline.cancel() }
        let choice = NIOTypedApplicationProtocolNegotiationHandler<Void> { result in
            deadline.cancel()
            return channel.eventLoop.makeCompletedFuture {
                if case .negotiated("h2") = result {
                    try self.addHTTP2(connection, turn: turn)
                } else {
                    try self.addHTTP1(connection, turn: turn)
                }
                // Those that are there have been told; this one was not there yet.
                if self.readiness.isStopping {
                    channel.pipeline.fireUserInboundEventTriggered(ChannelShouldQuiesceEvent())
                }
            }
        }
        try channel.pipeline.syncOperations.addHandlers([NIOSSLServerHandler(context: context), choice])
        // It is there once the handler is part of the connection.
        choice.protocolNegotiationResult.whenFailure { _ in self.metrics.tlsHandshakeFailures.increment() }
    }

    /// What HTTP/2 is spoken by, on a connection where it has been agreed on.
    package func addHTTP2(_ connection: OpenConnection, turn: LoopTurn) throws {
        let channel = connection.channel
        var settings = NIOHTTP2Handler.ConnectionConfiguration()
        settings.initialSettings = [
            HTTP2Setting(parameter: .maxConcurrentStreams, value: 100),
            HTTP2Setting(parameter: .maxHeaderListSize, value: RequestHead.maximumSize),
        ]
        let handler = HTTP2ConnectionHandler(eventLoop: channel.eventLoop)
        let shared = NIOLoopBound((turn: turn, connection: connection), eventLoop: channel.eventLoop)
        _ = try channel.pipeline.syncOperations.configureHTTP2Pipeline(
            mode: .server, connectionConfiguration: settings, streamConfiguration: .init(),
            streamDelegate: HTTP2StreamObserver(handler, eventLoop: channel.eventLoop)
        ) { stream in
            stream.eventLoop.makeCompletedFuture {
                let handler = HTTP2StreamHandler(
                    routes: routes, date: date, turn: shared.value.turn, connection: shared.value.connection)
                try stream.pipeline.syncOperations.addHandler(handler)
            }
        }
        try channel.pipeline.syncOperations.addHandler(handler)
    }
}
