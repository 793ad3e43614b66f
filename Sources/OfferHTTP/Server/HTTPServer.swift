import CProcess
import Glibc
import NIOCore
import NIOExtras
import NIOPosix
package import OfferTelemetry
import ServiceLifecycle

/// An HTTP/1.1 server that also speaks HTTP/2 over TLS. It runs until the process is told to stop.
package struct HTTPServer: Service {
    private let listeners: [Listener]
    private let certificate: CurrentCertificate
    private let readiness: Readiness
    private let metrics: ConnectionMetrics
    private let budget: MemoryBudget
    private let sources: ConnectionSources
    private let onListening: @Sendable (_ ports: [Int]) -> Void

    /// - Parameters:
    ///   - listeners: the listeners, which all stop together.
    ///   - certificate: the certificate for TLS; without one, the server speaks plain HTTP.
    ///   - readiness: is told when the server begins to stop.
    ///   - budget: the memory for requests and responses.
    ///   - sources: the limits for each address.
    ///   - onListening: called once with the ports, in the order of the listeners.
    package init(
        listeners: [Listener], certificate: CurrentCertificate, readiness: Readiness, metrics: ConnectionMetrics,
        budget: MemoryBudget, sources: ConnectionSources, onListening: @escaping @Sendable (_ ports: [Int]) -> Void
    ) {
        self.listeners = listeners
        self.certificate = certificate
        self.readiness = readiness
        self.metrics = metrics
        self.budget = budget
        self.sources = sources
        self.onListening = onListening
    }

    /// - Throws: ``CannotListen`` or ``ListenerFailed``.
    package func run() async throws {
        let asyncLane = AsyncLane()
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { await asyncLane.run() }
            try await serve(asyncLane)
            // All connections are closed, so no response can be sent anymore.
            asyncLane.finish()
            group.cancelAll()
        }
    }

    private func serve(_ asyncLane: AsyncLane) async throws {
        let group = MultiThreadedEventLoopGroup(numberOfThreads: UsableCores.count)
        var open: [(channel: any Channel, connections: ServerQuiescingHelper)] = []
        for listener in listeners {
            let connections = ServerQuiescingHelper(group: group)
            open.append((try await listen(on: listener, asyncLane, group, connections), connections))
        }
        let stopped = group.next().makePromise(of: Void.self)
        for (channel, _) in open {
            channel.closeFuture.whenComplete { _ in
                if !readiness.isStopping { stopped.fail(ListenerFailed()) }
            }
        }
        onListening(open.map { $0.channel.localAddress?.port ?? 0 })
        try await withGracefulShutdownHandler {
            try await stopped.futureResult.get()
        } onGracefulShutdown: { [open] in
            readiness.stop()
            // A connection ends once its handler has sent all pending responses.
            let ends = open.map { channel, connections in
                let ended = channel.eventLoop.makePromise(of: Void.self)
                drain(channel, group).whenComplete { _ in connections.initiateShutdown(promise: ended) }
                return ended.futureResult
            }
            EventLoopFuture.andAllComplete(ends, on: stopped.futureResult.eventLoop).cascade(to: stopped)
        }
    }

    /// Accepts the connections that are already waiting, and no others. A client that cannot connect can try another
    /// server. A client whose connection is reset cannot know whether its request was processed.
    private func drain(_ listener: any Channel, _ group: MultiThreadedEventLoopGroup) -> EventLoopFuture<Void> {
        let loop = listener.eventLoop
        // If the kernel rejects the filter, connections that arrive before the listener closes are lost. Nothing can
        // prevent that.
        let isFiltered =
            (listener as? any SocketOptionProvider).map { provider in
                provider.unsafeSetSocketOption(
                    level: SocketOptionLevel(SOL_SOCKET), name: SocketOptionName(SO_ATTACH_FILTER),
                    value: offer_filter_of_everything())
            } ?? loop.makeSucceededVoidFuture()
        return isFiltered.flatMapError { _ in loop.makeSucceededVoidFuture() }
            // Accept all waiting connections in the next turn of the loop, which ends before the delay does.
            .flatMap { listener.setOption(.maxMessagesPerRead, value: UInt(Self.backlog) * 2) }
            .flatMap { loop.scheduleTask(in: TimeLimit.accepting) {}.futureResult }
            .flatMap { listener.setOption(.autoRead, value: false) }
            // Let each loop set up its accepted connections first. Otherwise, they would be closed without a response.
            .flatMap { EventLoopFuture.andAllComplete(group.makeIterator().map { $0.submit {} }, on: loop) }
            .hop(to: loop)
    }

    /// The size of the kernel's buffers for a connection, in bytes, each way. By default, the kernel would buffer 5 MB
    /// of responses for a client that reads nothing.
    private static let kernelBuffer: SocketOptionValue = 64 * 1024

    /// The maximum number of connections waiting to be accepted.
    private static let backlog: Int32 = 1024

    private func listen(
        on listener: Listener, _ asyncLane: AsyncLane, _ group: MultiThreadedEventLoopGroup,
        _ connections: ServerQuiescingHelper
    ) async throws(CannotListen) -> any Channel {
        let setup = ConnectionSetup(
            responder: listener.responder, certificate: listener.isPlain ? CurrentCertificate(nil) : certificate,
            readiness: readiness, asyncLane: asyncLane, metrics: metrics, budget: budget, sources: sources,
            group: group, maximumConnections: listener.maximumConnections)
        do {
            return try await ServerBootstrap(group: group)
                .serverChannelOption(.backlog, value: Self.backlog)
                .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
                // Connections inherit this option. It must be set before listening, because it determines the TCP
                // window scale.
                .serverChannelOption(.socketOption(.so_rcvbuf), value: Self.kernelBuffer)
                .serverChannelOption(.socketOption(.reusePort), value: listener.sharesPort ? 1 : 0)
                .serverChannelInitializer { channel in
                    channel.eventLoop.makeCompletedFuture {
                        // This handler runs before NIO's own handler, which would back off for a second. Eviction frees
                        // descriptors immediately.
                        try channel.pipeline.syncOperations.addHandler(
                            AcceptBackoffHandler(shouldForwardIOErrorCaught: false) { _ in .milliseconds(20) })
                        try channel.pipeline.syncOperations.addHandler(
                            connections.makeServerChannelHandler(channel: channel))
                    }
                }
                .childChannelOption(.allowRemoteHalfClosure, value: true)
                .childChannelOption(.socketOption(.so_sndbuf), value: Self.kernelBuffer)
                .childChannelInitializer { channel in
                    channel.eventLoop.makeCompletedFuture { try setup.setUp(channel) }
                }
                .bind(host: listener.address.host, port: listener.address.port).get()
        } catch {
            throw CannotListen(address: listener.address, reason: "\(error)")
        }
    }
}

/// The error thrown if a listening socket closes although the service was not told to stop.
package struct ListenerFailed: Error, CustomStringConvertible {
    package let description = "the listening socket failed"
}

/// The error thrown if the service cannot listen on an address and port.
package struct CannotListen: Error {
    package let address: ListeningAddress
    package let reason: String
}

extension NIOBSDSocket.Option {
    /// NIO defines most socket options, but not this one.
    fileprivate static let reusePort = NIOBSDSocket.Option(rawValue: SO_REUSEPORT)
}
