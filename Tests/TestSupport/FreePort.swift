import NIOCore
import NIOPosix

/// A port for a service that a script starts, and that has to be known before.
package enum FreePort {
    /// Finds a port of 127.0.0.1 that nobody listens on.
    ///
    /// It is below those that the kernel hands out for port 0 and for connections (32768 and up on Linux), so no other
    /// test's service comes by it in the meantime.
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
