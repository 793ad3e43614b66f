import NIOCore
import NIOPosix

/// A free port for a service started by a script, which needs the port number in advance.
package enum FreePort {
    /// Finds an unused port on 127.0.0.1.
    ///
    /// The port is below the kernel's ephemeral range (32768 and up on Linux), so services of other tests that listen on
    /// port 0 cannot take it in the meantime.
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
