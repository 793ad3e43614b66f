import NIOCore
import NIOPosix

/// A server on a free port of 127.0.0.1 that sends one byte every 100 ms and never finishes.
package enum SlowServer {
    /// Starts a server that runs until the process ends.
    /// - Parameter beginning: text sent to each client first; if empty, the server sends nothing at all.
    /// - Returns: the port.
    package static func start(after beginning: String) async throws -> Int {
        let channel = try await ServerBootstrap(group: .singletonMultiThreadedEventLoopGroup)
            .childChannelInitializer { channel in
                guard !beginning.isEmpty else { return channel.eventLoop.makeSucceededVoidFuture() }
                channel.eventLoop.scheduleRepeatedTask(initialDelay: .milliseconds(100), delay: .milliseconds(100)) {
                    task in
                    guard channel.isActive else { return task.cancel() }
                    channel.writeAndFlush(ByteBuffer(string: "x"), promise: nil)
                }
                // The connection is not active yet in its initializer, so this write waits briefly.
                channel.eventLoop.scheduleTask(in: .milliseconds(10)) {
                    channel.writeAndFlush(ByteBuffer(string: beginning), promise: nil)
                }
                return channel.eventLoop.makeSucceededVoidFuture()
            }
            .bind(host: "127.0.0.1", port: 0).get()
        return channel.localAddress?.port ?? 0
    }
}
