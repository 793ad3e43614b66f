import ArgumentParser
import NIOCore
import NIOHTTP1
import NIOPosix

struct ReceiveCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "receive",
        abstract: "Accept every forwarded notification, until killed, and note its notificationUUID in a file.")

    @Option(help: "The port on 127.0.0.1.")
    var port: Int

    @Option(help: "The file to which the notificationUUIDs are added.")
    var received: String

    func run() async throws {
        let file = try LineFile(path: received)
        let channel = try await ServerBootstrap(group: .singletonMultiThreadedEventLoopGroup)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.configureHTTPServerPipeline()
                    try channel.pipeline.syncOperations.addHandler(Receiver(file))
                }
            }
            .bind(host: "127.0.0.1", port: port).get()
        try await channel.closeFuture.get()
    }
}

/// Answers each request with 200 once its UUID is noted.
private final class Receiver: ChannelInboundHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundOut = HTTPServerResponsePart

    private let file: LineFile
    private var uuid: String?

    init(_ file: LineFile) { self.file = file }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head(let head): uuid = head.headers.first(name: "Offer-Signer-Notification")
        case .body: break
        case .end:
            var status = HTTPResponseStatus.badRequest
            if let uuid, (try? file.add(uuid)) != nil { status = .ok }
            let head = HTTPResponseHead(version: .http1_1, status: status, headers: ["Content-Length": "0"])
            context.write(wrapOutboundOut(.head(head)), promise: nil)
            context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
        }
    }
}
