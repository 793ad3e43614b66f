import Foundation
import NIOConcurrencyHelpers
import NIOCore
import NIOPosix

/// A proxy in front of a PostgreSQL server, on a loopback port, that disturbs connections in ways that a network does.
final class CuttingProxy: Sendable {
    enum Mode: Hashable, Sendable {
        case passing
        /// Cuts the connection of the next COMMIT: it reaches the server, and its answer does not reach the client.
        case cuttingAfterCommit
        /// Swallows everything that the server says, and leaves connections open.
        case silent
        /// Refuses new connections, and cuts those there are at the next byte.
        case closed
    }

    private let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
    private let channel: any Channel
    private let state = NIOLockedValueBox(Mode.passing)

    init(to port: Int) async throws {
        channel = try await ServerBootstrap(group: group)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .childChannelOption(.autoRead, value: false)
            .childChannelInitializer { [state, group] client in
                ClientBootstrap(group: group).channelOption(.autoRead, value: false).connect(
                    host: "127.0.0.1", port: port
                )
                .flatMap { server in
                    let cut = NIOLockedValueBox(false)
                    return client.eventLoop.makeCompletedFuture {
                        try client.pipeline.syncOperations.addHandler(
                            Relay(to: server, isFromServer: false, state, cut))
                    }.flatMap {
                        server.pipeline.addHandler(Relay(to: client, isFromServer: true, state, cut))
                    }.flatMap {
                        server.setOption(.autoRead, value: true).and(client.setOption(.autoRead, value: true)).map {
                            _ in
                        }
                    }
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
    }

    var port: Int { channel.localAddress?.port ?? 0 }

    var mode: Mode {
        get { state.withLockedValue { $0 } }
        set { state.withLockedValue { $0 = newValue } }
    }

    func close() async throws {
        try await channel.close()
        try await group.shutdownGracefully()
    }
}

/// Passes what one side sends to the other.
private final class Relay: ChannelInboundHandler, Sendable {
    typealias InboundIn = ByteBuffer

    private let other: any Channel
    private let isFromServer: Bool
    private let mode: NIOLockedValueBox<CuttingProxy.Mode>
    /// Whether the answer of a COMMIT is awaited, to be cut off.
    private let isCut: NIOLockedValueBox<Bool>

    init(
        to other: any Channel, isFromServer: Bool, _ mode: NIOLockedValueBox<CuttingProxy.Mode>,
        _ isCut: NIOLockedValueBox<Bool>
    ) {
        self.other = other
        self.isFromServer = isFromServer
        self.mode = mode
        self.isCut = isCut
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let bytes = unwrapInboundIn(data)
        switch mode.withLockedValue({ $0 }) {
        case .passing: break
        case .silent: if isFromServer { return }
        case .closed: return cut(context)
        case .cuttingAfterCommit:
            // The name of the prepared statement begins with it, and follows the empty name of the portal.
            if !isFromServer, Data(bytes.readableBytesView).range(of: Data("\0commit".utf8)) != nil {
                isCut.withLockedValue { $0 = true }
                mode.withLockedValue { $0 = .passing }
            }
        }
        if isFromServer, isCut.withLockedValue({ $0 }) { return cut(context) }
        other.writeAndFlush(bytes, promise: nil)
    }

    func channelInactive(context: ChannelHandlerContext) { other.close(promise: nil) }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { cut(context) }

    private func cut(_ context: ChannelHandlerContext) {
        context.close(promise: nil)
        other.close(promise: nil)
    }
}
