import Foundation
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL
import TestSupport

/// An HTTPS server on 127.0.0.1 that answers each request from an asynchronous function.
final class TLSServer: Sendable {
    let port: Int
    private let channel: any Channel

    /// - Parameter port: 0 for any free port.
    init(
        _ certificates: TLSCertificates, port: Int,
        answer: @escaping @Sendable (StandInRequest) async -> StandInResponse
    ) async throws {
        let chain = try NIOSSLCertificate.fromPEMFile(certificates.certificatePath)
        let key = try NIOSSLPrivateKey(file: certificates.keyPath, format: .pem)
        let configuration = TLSConfiguration.makeServerConfiguration(
            certificateChain: chain.map { .certificate($0) }, privateKey: .privateKey(key))
        let context = try NIOSSLContext(configuration: configuration)
        channel = try await ServerBootstrap(group: .singletonMultiThreadedEventLoopGroup)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    let pipeline = channel.pipeline.syncOperations
                    try pipeline.addHandler(NIOSSLServerHandler(context: context))
                    try pipeline.configureHTTPServerPipeline()
                    try pipeline.addHandler(RequestHandler(answer))
                }
            }
            .bind(host: "127.0.0.1", port: port).get()
        self.port = channel.localAddress?.port ?? 0
    }

    var url: String { "https://127.0.0.1:\(port)" }

    func stop() async { try? await channel.close() }
}

/// A request to the stand-in.
package struct StandInRequest: Sendable {
    let method: String
    /// Without the query, not decoded.
    let path: [String]
    let query: [(name: String, value: String)]
    let authorization: String?
    let body: [UInt8]

    func value(_ name: String) -> String? { query.first { $0.name == name }?.value }
}

struct StandInResponse: Sendable {
    /// What happens to the response on its way.
    enum Delivery: Sendable {
        case whole
        /// Half of the body, then the connection ends.
        case half
        /// The connection ends without a byte.
        case none
    }

    var status = 200
    var headers: [(String, String)] = []
    var body: [UInt8] = []
    var delivery = Delivery.whole
}

/// Collects a request, has it answered, and writes the response. One request at a time, as pipelining is handled before.
private final class RequestHandler: ChannelInboundHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundOut = HTTPServerResponsePart

    private let answer: @Sendable (StandInRequest) async -> StandInResponse
    private var head: HTTPRequestHead?
    private var body: [UInt8] = []

    init(_ answer: @escaping @Sendable (StandInRequest) async -> StandInResponse) { self.answer = answer }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head(let head): (self.head, body) = (head, [])
        case .body(let buffer): body += buffer.readableBytesView
        case .end:
            guard let head else { return }
            let request = StandInRequest(head, body)
            Self.respond(to: request, on: context.channel, answer)
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }

    private static func respond(
        to request: StandInRequest, on channel: any Channel,
        _ answer: @escaping @Sendable (StandInRequest) async -> StandInResponse
    ) {
        Task { await write(answer(request), to: channel) }
    }

    private static func write(_ response: StandInResponse, to channel: any Channel) async {
        if case .none = response.delivery { return channel.close(promise: nil) }
        var head = HTTPResponseHead(version: .http1_1, status: .init(statusCode: response.status))
        for (name, value) in response.headers { head.headers.add(name: name, value: value) }
        head.headers.add(name: "Content-Length", value: "\(response.body.count)")
        head.headers.add(name: "Content-Type", value: "application/json")
        channel.write(HTTPServerResponsePart.head(head), promise: nil)
        var isHalf = false
        if case .half = response.delivery { isHalf = true }
        let body = isHalf ? response.body.prefix(response.body.count / 2) : response.body[...]
        if isHalf {
            try? await channel.writeAndFlush(HTTPServerResponsePart.body(.byteBuffer(ByteBuffer(bytes: body))))
            return channel.close(promise: nil)
        }
        channel.write(HTTPServerResponsePart.body(.byteBuffer(ByteBuffer(bytes: body))), promise: nil)
        channel.writeAndFlush(HTTPServerResponsePart.end(nil), promise: nil)
    }
}

extension StandInRequest {
    fileprivate init(_ head: HTTPRequestHead, _ body: [UInt8]) {
        let parts = head.uri.split(separator: "?", maxSplits: 1)
        self.init(
            method: head.method.rawValue,
            path: (parts.first ?? "").split(separator: "/").map { $0.removingPercentEncoding ?? "" },
            query: parts.count < 2
                ? []
                : parts[1].split(separator: "&").map { pair in
                    let sides = pair.split(separator: "=", maxSplits: 1)
                    return (String(sides[0]), sides.count < 2 ? "" : String(sides[1]).removingPercentEncoding ?? "")
                }, authorization: head.headers.first(name: "Authorization"), body: body)
    }
}
