import HummingbirdCore
package import Logging
import NIOCore
import NIOPosix
import ServiceLifecycle
import UnixSignals

/// Serves the routes over HTTP/1.1 until the process is told to stop.
package struct HTTPService: Sendable {
    private let host: String
    private let port: Int
    private let routes: Routes
    private let log: Logger

    /// - Parameter port: 0 lets the system choose.
    package init(host: String, port: Int, routes: Routes, log: Logger) {
        self.host = host
        self.port = port
        self.routes = routes
        self.log = log
    }

    /// Serves until SIGTERM or SIGINT, then finishes the requests in flight.
    /// - Parameter onListening: called once, with the port that is listened on.
    package func run(onListening: @escaping @Sendable (_ port: Int) -> Void) async throws {
        let server = Server(
            childChannelSetup: ConnectionSetup(routes: routes, date: HTTPDate()),
            configuration: ServerConfiguration(address: .hostname(host, port: port), backlog: 1024),
            onServerRunning: { channel in onListening(channel.localAddress?.port ?? 0) },
            eventLoopGroup: MultiThreadedEventLoopGroup(numberOfThreads: UsableCores.count),
            logger: log)
        let services = ServiceGroup(
            configuration: .init(services: [server], gracefulShutdownSignals: [.sigterm, .sigint], logger: log))
        try await services.run()
    }
}
