import NIOConcurrencyHelpers
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL

/// A receiver of forwarded notifications on a free port of 127.0.0.1. It records every request.
final class TestReceiver: Sendable {
    struct Request: Sendable {
        let uri: String
        let headers: [String: String]
        let body: [UInt8]

        var uuid: String? { headers["offer-signer-notification"] }
    }

    /// Decides on the status of a request; nil to leave it without a response.
    typealias Answer = @Sendable (Request) -> Int?

    private let state: NIOLockedValueBox<(answer: Answer, requests: [Request])>
    private let channel: any Channel
    private let connections: NIOLockedValueBox<[any Channel]>
    let url: String

    init(tls: NIOSSLContext? = nil, _ answer: @escaping Answer = { _ in 200 }) async throws {
        let state = NIOLockedValueBox<(answer: Answer, requests: [Request])>((answer, []))
        self.state = state
        let connections = NIOLockedValueBox<[any Channel]>([])
        self.connections = connections
        channel = try await ServerBootstrap(group: .singletonMultiThreadedEventLoopGroup)
            .childChannelInitializer { channel in
                connections.withLockedValue { $0.append(channel) }
                return channel.eventLoop.makeCompletedFuture {
                    if let tls { try channel.pipeline.syncOperations.addHandler(NIOSSLServerHandler(context: tls)) }
                    try channel.pipeline.syncOperations.configureHTTPServerPipeline()
                    try channel.pipeline.syncOperations.addHandler(Handler(state: state))
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        url = "\(tls == nil ? "http" : "https")://localhost:\(channel.localAddress?.port ?? 0)/app-store?secret=marked"
    }

    deinit { channel.close(promise: nil) }

    /// Closes all connections, which ends the requests without a response.
    func hangUp() async throws {
        try await channel.close()
        for connection in connections.withLockedValue(\.self) { connection.close(promise: nil) }
    }

    var requests: [Request] { state.withLockedValue { $0.requests } }

    func answer(_ answer: @escaping Answer) { state.withLockedValue { $0.answer = answer } }

    private final class Handler: ChannelInboundHandler {
        typealias InboundIn = HTTPServerRequestPart
        typealias OutboundOut = HTTPServerResponsePart

        private let state: NIOLockedValueBox<(answer: Answer, requests: [Request])>
        private var uri = ""
        private var headers: [String: String] = [:]
        private var body: [UInt8] = []

        init(state: NIOLockedValueBox<(answer: Answer, requests: [Request])>) { self.state = state }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            switch unwrapInboundIn(data) {
            case .head(let head):
                (uri, body) = (head.uri, [])
                headers = Dictionary(head.headers.map { ($0.name.lowercased(), $0.value) }) { $1 }
            case .body(let part): body += Array(part.readableBytesView)
            case .end:
                let request = Request(uri: uri, headers: headers, body: body)
                let status = state.withLockedValue { state in
                    state.requests.append(request)
                    return state.answer(request)
                }
                guard let status else { return }
                let head = HTTPResponseHead(
                    version: .http1_1, status: .init(statusCode: status), headers: ["Content-Length": "0"])
                context.write(wrapOutboundOut(.head(head)), promise: nil)
                context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
            }
        }
    }
}
