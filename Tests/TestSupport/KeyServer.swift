import NIOConcurrencyHelpers
import NIOCore
import NIOHTTP1
import NIOPosix

/// An HTTP server on a free port of 127.0.0.1 that returns the same configurable response to every request.
package final class KeyServer: Sendable {
    package struct Response: Sendable {
        package var status = 200
        package var body: String
        package var location: String?

        package init(status: Int = 200, body: String, location: String? = nil) {
            self.status = status
            self.body = body
            self.location = location
        }
    }

    private let state: NIOLockedValueBox<(response: Response, requests: Int)>
    private let channel: any Channel
    package let port: Int

    package init(_ body: String) async throws {
        let state = NIOLockedValueBox((response: Response(body: body), requests: 0))
        self.state = state
        channel = try await ServerBootstrap(group: .singletonMultiThreadedEventLoopGroup)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.configureHTTPServerPipeline()
                    try channel.pipeline.syncOperations.addHandler(Handler(state: state))
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        port = channel.localAddress?.port ?? 0
    }

    deinit { channel.close(promise: nil) }

    package var url: String { "http://127.0.0.1:\(port)/jwks.json" }

    package var requests: Int { state.withLockedValue { $0.requests } }

    package func answer(_ response: Response) { state.withLockedValue { $0.response = response } }

    private final class Handler: ChannelInboundHandler {
        typealias InboundIn = HTTPServerRequestPart
        typealias OutboundOut = HTTPServerResponsePart

        private let state: NIOLockedValueBox<(response: Response, requests: Int)>

        init(state: NIOLockedValueBox<(response: Response, requests: Int)>) {
            self.state = state
        }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            guard case .end = unwrapInboundIn(data) else { return }
            let response = state.withLockedValue { state in
                state.requests += 1
                return state.response
            }
            var headers = HTTPHeaders([("Content-Length", "\(response.body.utf8.count)")])
            if let location = response.location { headers.add(name: "Location", value: location) }
            let head = HTTPResponseHead(
                version: .http1_1, status: .init(statusCode: response.status), headers: headers)
            context.write(wrapOutboundOut(.head(head)), promise: nil)
            context.write(wrapOutboundOut(.body(.byteBuffer(ByteBuffer(string: response.body)))), promise: nil)
            context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
        }
    }
}
