import NIOCore
import NIOPosix

/// A free port for a service that a script starts. The script needs the port before the service starts.
package enum FreePort {
    /// Finds a port of 127.0.0.1 on which nobody listens.
    ///
    /// The port is below the range from which the kernel picks ports for port 0 and for connections (32768 and up on
    /// Linux), so the services of other tests cannot take it in the meantime.
    package static func find() async throws -> Int {
        while true {
            let port = Int.random(in: 20_000..<30_000)
            let bootstrap = ServerBootstrap(group: .singletonMultiThreadedEventLoopGroup)
            guard let channel = try? await bootstrap.bind(host: "127.0.0.1", port: port).get() else { continue }
            try await channel.close()
            return port
        }
    }
}
