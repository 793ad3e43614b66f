import Foundation
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL
import TestSupport

/// An HTTPS server on a free port of 127.0.0.1 that answers each request from a function.
final class HTTPSServer: Sendable {
    struct Request: Sendable {
        let method: String
        /// The path and the query, not decoded.
        let target: String
        let headers: HTTPHeaders
        let body: String
    }

    struct Response: Sendable {
        var status = 200
        var headers = HTTPHeaders()
        var body = ""
    }

    let port: Int
    private let channel: any Channel

    /// - Parameter answer: returns nil to never answer.
    init(_ certificates: TLSCertificates, answer: @escaping @Sendable (Request) -> Response?) async throws {
        let chain = try NIOSSLCertificate.fromPEMFile(certificates.certificatePath)
        let key = try NIOSSLPrivateKey(file: certificates.keyPath, format: .pem)
        let context = try NIOSSLContext(
            configuration: .makeServerConfiguration(
                certificateChain: chain.map { .certificate($0) }, privateKey: .privateKey(key)))
        channel = try await ServerBootstrap(group: .singletonMultiThreadedEventLoopGroup)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    let pipeline = channel.pipeline.syncOperations
                    try pipeline.addHandler(NIOSSLServerHandler(context: context))
                    try pipeline.configureHTTPServerPipeline()
                    try pipeline.addHandler(Handler(answer))
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        port = channel.localAddress?.port ?? 0
    }

    deinit { channel.close(promise: nil) }

    private final class Handler: ChannelInboundHandler {
        typealias InboundIn = HTTPServerRequestPart
        typealias OutboundOut = HTTPServerResponsePart

        private let answer: @Sendable (Request) -> Response?
        private var head: HTTPRequestHead?
        private var body = ByteBuffer()

        init(_ answer: @escaping @Sendable (Request) -> Response?) {
            self.answer = answer
        }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            switch unwrapInboundIn(data) {
            case .head(let head): (self.head, body) = (head, ByteBuffer())
            case .body(var part): body.writeBuffer(&part)
            case .end:
                guard let head else { return }
                let request = Request(
                    method: head.method.rawValue, target: head.uri, headers: head.headers, body: String(buffer: body))
                guard let response = answer(request) else { return }
                var headers = response.headers
                headers.replaceOrAdd(name: "Content-Length", value: "\(response.body.utf8.count)")
                let start = HTTPResponseHead(
                    version: .http1_1, status: .init(statusCode: response.status), headers: headers)
                context.write(wrapOutboundOut(.head(start)), promise: nil)
                context.write(wrapOutboundOut(.body(.byteBuffer(ByteBuffer(string: response.body)))), promise: nil)
                context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
            }
        }
    }
}
