import Glibc
import NIOCore
import NIOExtras
import NIOPosix
import ServiceLifecycle

/// Serves the routes over HTTP/1.1, or over TLS and HTTP/2 as well, until the process is told to stop.
package struct HTTPService: Service {
    private let host: String
    private let port: Int
    private let sharesPort: Bool
    private let maximumConnections: Int
    private let certificate: CurrentCertificate
    private let routes: Routes
    private let readiness: Readiness
    private let onListening: @Sendable (_ port: Int) -> Void

    /// - Parameters:
    ///   - port: 0 lets the system choose.
    ///   - sharesPort: whether another process may listen at the same port.
    ///   - maximumConnections: how many there may be at a time.
    ///   - certificate: for TLS; without one, plain HTTP is spoken.
    ///   - readiness: is told when the service begins to stop.
    ///   - onListening: called once, with the port that is listened on.
    package init(
        host: String, port: Int, sharesPort: Bool, maximumConnections: Int, certificate: CurrentCertificate,
        routes: Routes, readiness: Readiness, onListening: @escaping @Sendable (_ port: Int) -> Void
    ) {
        self.host = host
        self.port = port
        self.sharesPort = sharesPort
        self.maximumConnections = maximumConnections
        self.certificate = certificate
        self.routes = routes
        self.readiness = readiness
        self.onListening = onListening
    }

    /// - Throws: ``CannotListen``, ``StoppedListening``.
    package func run() async throws {
        let group = MultiThreadedEventLoopGroup(numberOfThreads: UsableCores.count)
        let connections = ServerQuiescingHelper(group: group)
        let listener = try await listen(group: group, connections: connections)
        let stopped = listener.eventLoop.makePromise(of: Void.self)
        listener.closeFuture.whenComplete { _ in
            // Deaf without having been told to stop.
            if !readiness.isStopping { stopped.fail(StoppedListening()) }
        }
        onListening(listener.localAddress?.port ?? 0)
        try await withGracefulShutdownHandler {
            try await stopped.futureResult.get()
        } onGracefulShutdown: {
            readiness.stop()
            // What has been accepted is set up on its own loop and then here before the listener closes, or it would be
            // closed unanswered. Each connection ends in its own time, which RequestHandler sees to.
            listener.setOption(.autoRead, value: false)
                .flatMap {
                    EventLoopFuture.andAllComplete(group.makeIterator().map { $0.submit {} }, on: listener.eventLoop)
                }
                .hop(to: listener.eventLoop)
                .whenComplete { _ in connections.initiateShutdown(promise: stopped) }
        }
    }

    private func listen(
        group: MultiThreadedEventLoopGroup, connections: ServerQuiescingHelper
    ) async throws(CannotListen) -> any Channel {
        let setup = ConnectionSetup(
            routes: routes, certificate: certificate, readiness: readiness, group: group,
            maximumConnections: maximumConnections)
        do {
            return try await ServerBootstrap(group: group)
                .serverChannelOption(.backlog, value: 1024)
                .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
                .serverChannelOption(.socketOption(.reusePort), value: sharesPort ? 1 : 0)
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
                .bind(host: host, port: port).get()
        } catch {
            throw CannotListen(reason: "\(error)")
        }
    }
}

/// The socket that was listened on is gone without anybody having closed it.
package struct StoppedListening: Error, CustomStringConvertible {
    package let description = "the socket that was listened on failed"
}

/// The address and port that were asked for cannot be listened on.
package struct CannotListen: Error {
    package let reason: String
}

extension NIOBSDSocket.Option {
    /// NIO names most of the socket options, and not this one.
    fileprivate static let reusePort = NIOBSDSocket.Option(rawValue: SO_REUSEPORT)
}
