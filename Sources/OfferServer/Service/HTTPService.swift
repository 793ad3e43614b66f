import CProcess
import Glibc
import NIOCore
import NIOExtras
import NIOPosix
import ServiceLifecycle

/// Serves the routes over HTTP/1.1, or over TLS and HTTP/2 as well, until the process is told to stop.
package struct HTTPService: Service {
    private let places: [ListeningPlace]
    private let certificate: CurrentCertificate
    private let readiness: Readiness
    private let trail: AuditTrail?
    private let metrics: ServiceMetrics
    private let onListening: @Sendable (_ ports: [Int]) -> Void

    /// - Parameters:
    ///   - places: where to listen; all of them end together.
    ///   - certificate: for TLS; without one, plain HTTP is spoken.
    ///   - readiness: is told when the service begins to stop.
    ///   - trail: what has to be written before an answer leaves; nil where no trail is kept.
    ///   - onListening: called once, with the ports that are listened on.
    package init(
        places: [ListeningPlace], certificate: CurrentCertificate, readiness: Readiness, trail: AuditTrail?,
        metrics: ServiceMetrics, onListening: @escaping @Sendable (_ ports: [Int]) -> Void
    ) {
        self.places = places
        self.certificate = certificate
        self.readiness = readiness
        self.trail = trail
        self.metrics = metrics
        self.onListening = onListening
    }

    /// - Throws: ``CannotListen``, ``StoppedListening``.
    package func run() async throws {
        let group = MultiThreadedEventLoopGroup(numberOfThreads: UsableCores.count)
        var listeners: [(channel: any Channel, connections: ServerQuiescingHelper)] = []
        for place in places {
            let connections = ServerQuiescingHelper(group: group)
            listeners.append((try await listen(at: place, group: group, connections: connections), connections))
        }
        let stopped = group.next().makePromise(of: Void.self)
        for (channel, _) in listeners {
            channel.closeFuture.whenComplete { _ in
                // Deaf without having been told to stop.
                if !readiness.isStopping { stopped.fail(StoppedListening()) }
            }
        }
        onListening(listeners.map { $0.channel.localAddress?.port ?? 0 })
        try await withGracefulShutdownHandler {
            try await stopped.futureResult.get()
        } onGracefulShutdown: { [listeners] in
            readiness.stop()
            // Each connection ends in its own time, which its handler sees to.
            let ends = listeners.map { channel, connections in
                let ended = channel.eventLoop.makePromise(of: Void.self)
                drain(channel, group).whenComplete { _ in connections.initiateShutdown(promise: ended) }
                return ended.futureResult
            }
            EventLoopFuture.andAllComplete(ends, on: stopped.futureResult.eventLoop).cascade(to: stopped)
        }
    }

    /// Sees to it that whoever has a connection by now gets an answer, and nobody gets one any more: a client that cannot
    /// connect asks elsewhere, but one whose connection is reset does not know whether it was answered.
    private func drain(_ listener: any Channel, _ group: MultiThreadedEventLoopGroup) -> EventLoopFuture<Void> {
        let loop = listener.eventLoop
        // Where the system refuses the filter, those that come in the next moment are lost; there is nothing else to do.
        let isClosedToOthers =
            (listener as? any SocketOptionProvider).map { provider in
                provider.unsafeSetSocketOption(
                    level: SocketOptionLevel(SOL_SOCKET), name: SocketOptionName(SO_ATTACH_FILTER),
                    value: offer_filter_of_everything())
            } ?? loop.makeSucceededVoidFuture()
        return isClosedToOthers.flatMapError { _ in loop.makeSucceededVoidFuture() }
            // All that are waiting, in the next turn of the loop, which has come and gone by then.
            .flatMap { listener.setOption(.maxMessagesPerRead, value: UInt(Self.backlog) * 2) }
            .flatMap { loop.scheduleTask(in: TimeLimit.accepting) {}.futureResult }
            .flatMap { listener.setOption(.autoRead, value: false) }
            // What has been accepted is set up on its own loop and then here, or it would be closed unanswered.
            .flatMap { EventLoopFuture.andAllComplete(group.makeIterator().map { $0.submit {} }, on: loop) }
            .hop(to: loop)
    }

    /// How many connections wait at most to be accepted.
    private static let backlog: Int32 = 1024

    private func listen(
        at place: ListeningPlace, group: MultiThreadedEventLoopGroup, connections: ServerQuiescingHelper
    ) async throws(CannotListen) -> any Channel {
        let setup = ConnectionSetup(
            routes: place.routes, certificate: place.isPlain ? CurrentCertificate(nil) : certificate,
            readiness: readiness, trail: trail, metrics: metrics, group: group,
            maximumConnections: place.maximumConnections)
        do {
            return try await ServerBootstrap(group: group)
                .serverChannelOption(.backlog, value: Self.backlog)
                .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
                .serverChannelOption(.socketOption(.reusePort), value: place.sharesPort ? 1 : 0)
                .serverChannelInitializer { channel in
                    channel.eventLoop.makeCompletedFuture {
                        // In front of NIO's own, which would wait for a second. Connections give way in no time.
                        try channel.pipeline.syncOperations.addHandler(
                            AcceptBackoffHandler(shouldForwardIOErrorCaught: false) { _ in .milliseconds(20) })
                        try channel.pipeline.syncOperations.addHandler(
                            connections.makeServerChannelHandler(channel: channel))
                    }
                }
                .childChannelOption(.allowRemoteHalfClosure, value: true)
                .childChannelInitializer { channel in
                    channel.eventLoop.makeCompletedFuture { try setup.setUp(channel) }
                }
                .bind(host: place.address.host, port: place.address.port).get()
        } catch {
            throw CannotListen(address: place.address, reason: "\(error)")
        }
    }
}

/// The socket that was listened on is gone without anybody having closed it.
package struct StoppedListening: Error, CustomStringConvertible {
    package let description = "the socket that was listened on failed"
}

/// The address and port that were asked for cannot be listened on.
package struct CannotListen: Error {
    package let address: ListeningAddress
    package let reason: String
}

extension NIOBSDSocket.Option {
    /// NIO names most of the socket options, and not this one.
    fileprivate static let reusePort = NIOBSDSocket.Option(rawValue: SO_REUSEPORT)
}
