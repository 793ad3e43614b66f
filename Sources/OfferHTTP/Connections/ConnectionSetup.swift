package import NIOCore
import NIOHTTP2
import NIOSSL
import NIOTLS
package import OfferTelemetry

/// The setup of a new connection's handlers: TLS if there is a certificate, then HTTP/2 if the client negotiated it in
/// the handshake, and HTTP/1.1 otherwise.
package struct ConnectionSetup: Sendable {
    /// The state shared by the connections of one event loop, accessible only on that loop.
    private struct Shared {
        let batch: ResponseBatch
        let connections: ConnectionSet
        let handshakes: HandshakeQueue
    }

    private let responder: any Responder
    private let certificate: CurrentCertificate
    private let readiness: Readiness
    private let metrics: ConnectionMetrics
    private let budget: MemoryBudget
    private let sources: ConnectionSources
    private let date = HTTPDate()
    private let shared: [ObjectIdentifier: NIOLoopBoundBox<Shared>]

    /// - Parameters:
    ///   - budget: the memory for the requests and responses of all listeners.
    ///   - sources: the limits for each address.
    ///   - group: the event loops that serve the connections.
    ///   - maximumConnections: the limit across all event loops.
    package init(
        responder: any Responder, certificate: CurrentCertificate, readiness: Readiness, asyncLane: AsyncLane,
        metrics: ConnectionMetrics, budget: MemoryBudget, sources: ConnectionSources, group: any EventLoopGroup,
        maximumConnections: Int
    ) {
        self.responder = responder
        self.certificate = certificate
        self.readiness = readiness
        self.metrics = metrics
        self.budget = budget
        self.sources = sources
        let loops = Array(group.makeIterator())
        let limit = max(1, maximumConnections / loops.count)
        shared = Dictionary(
            uniqueKeysWithValues: loops.map { loop in
                let batch = ResponseBatch(
                    eventLoop: loop, responder: responder, asyncLane: asyncLane, budget: budget)
                let connections = ConnectionSet(limit: limit, batch: batch, budget: budget, metrics: metrics)
                let shared = NIOLoopBoundBox.makeBoxSendingValue(
                    Shared(
                        batch: batch, connections: connections, handshakes: HandshakeQueue(eventLoop: loop)),
                    eventLoop: loop)
                budget.addRelief(on: loop) { [weak shared] in shared?.value.connections.relieve(loop.now) }
                return (ObjectIdentifier(loop), shared)
            })
    }

    /// - Parameter channel: a newly accepted connection. Must be called on its event loop.
    func setUp(_ channel: any Channel) throws {
        let context = certificate.context
        guard sources.admit(channel, startsTLS: context != nil) else {
            metrics.refused.increment()
            throw ConnectionRefused()
        }
        // Read only a little per turn. Otherwise, a client that sends hundreds of requests at once would delay other
        // clients.
        try channel.syncOptions?.setOption(.maxMessagesPerRead, value: 1)
        try channel.syncOptions?.setOption(
            .recvAllocator, value: AdaptiveRecvByteBufferAllocator(minimum: 1024, initial: 2048, maximum: 16 * 1024))
        if let context {
            try addTLS(context, add(channel))
        } else {
            try addHTTP1(add(channel))
        }
    }

    /// Adds the connection to the ``ConnectionSet`` of its event loop, which limits the number of connections and
    /// checks their time limits.
    package func add(_ channel: any Channel) -> OpenConnection {
        let connection = OpenConnection(channel, budget: budget)
        shared(by: channel).connections.add(connection)
        return connection
    }

    private func shared(by channel: any Channel) -> Shared {
        guard let shared = shared[ObjectIdentifier(channel.eventLoop)]?.value else {
            preconditionFailure("a connection is on one of the group's event loops")
        }
        return shared
    }

    package func addHTTP1(_ connection: OpenConnection) throws {
        let batch = shared(by: connection.channel).batch
        try connection.channel.pipeline.syncOperations.addHandler(
            HTTP1Handler(responder: responder, date: date, batch: batch, connection: connection))
    }

    private func addTLS(_ context: NIOSSLContext, _ connection: OpenConnection) throws {
        let channel = connection.channel
        connection.handshakeDeadline = channel.eventLoop.now + TimeLimit.handshake
        let choice = NIOTypedApplicationProtocolNegotiationHandler<Void> { result in
            connection.handshakeDeadline = nil
            return channel.eventLoop.makeCompletedFuture {
                if case .negotiated("h2") = result {
                    try self.addHTTP2(connection)
                } else {
                    try self.addHTTP1(connection)
                }
                // Connections that had a handler have already been told to stop. This one had none at that time.
                if self.readiness.isStopping {
                    channel.pipeline.fireUserInboundEventTriggered(ChannelShouldQuiesceEvent())
                }
            }
        }
        let gate = HandshakeGate(shared(by: channel).handshakes, onFirstBytes: connection.beginTLS)
        try channel.pipeline.syncOperations.addHandlers([gate, NIOSSLServerHandler(context: context), choice])
        // The future exists only once the handler is in the pipeline.
        choice.protocolNegotiationResult.whenFailure { _ in self.metrics.failedHandshakes.increment() }
    }

    /// Adds the HTTP/2 handlers to a connection that has negotiated HTTP/2.
    package func addHTTP2(_ connection: OpenConnection) throws {
        let channel = connection.channel
        var settings = NIOHTTP2Handler.ConnectionConfiguration()
        settings.initialSettings = [
            HTTP2Setting(parameter: .maxConcurrentStreams, value: 100),
            HTTP2Setting(parameter: .maxHeaderListSize, value: RequestHead.maximumSize),
        ]
        let handler = HTTP2ConnectionHandler(eventLoop: channel.eventLoop)
        connection.handler = handler
        let ours = NIOLoopBound(
            (batch: shared(by: channel).batch, connection: connection, handler: handler), eventLoop: channel.eventLoop)
        _ = try channel.pipeline.syncOperations.configureHTTP2Pipeline(
            mode: .server, connectionConfiguration: settings, streamConfiguration: .init(),
            streamDelegate: HTTP2StreamObserver(handler, eventLoop: channel.eventLoop)
        ) { stream in
            stream.eventLoop.makeCompletedFuture {
                let (batch, connection, parent) = ours.value
                try stream.pipeline.syncOperations.addHandler(
                    HTTP2StreamHandler(
                        responder: responder, date: date, batch: batch, connection: connection, parent: parent))
            }
        }
        try channel.pipeline.syncOperations.addHandler(handler)
    }
}
