import HTTPTypes
import Hummingbird
package import Logging
import NIOCore

/// Carries requests and answers over HTTP/1.1, on Hummingbird, until the process is told to stop.
package struct HTTPService: Sendable {
    private let host: String
    private let port: Int
    private let routes: Routes
    private let log: Logger

    /// - Parameter port: 0 lets the system choose.
    package init(host: String, port: Int, routes: Routes, log: Logger) {
        self.host = host
        self.port = port
        self.routes = routes
        self.log = log
    }

    /// Serves until SIGTERM or SIGINT, then finishes the requests in flight.
    /// - Parameter onListening: called once, with the port that is listened on.
    package func run(onListening: @escaping @Sendable (_ port: Int) -> Void) async throws {
        let routes = routes
        let application = Application(
            responder: Responder(routes: routes),
            server: .http1(
                configuration: .init(
                    additionalChannelHandlers: [MalformedRequestHandler { routes.answer(.malformedHTTP) }],
                    idleTimeout: .seconds(60))),
            configuration: .init(address: .hostname(host, port: port), serverName: nil),
            onServerRunning: { channel in onListening(channel.localAddress?.port ?? 0) },
            logger: log
        )
        try await application.runService()
    }
}

/// Hands each request to the routes, whole.
private struct Responder: HTTPResponder {
    typealias Context = BasicRequestContext

    let routes: Routes

    func respond(to request: Request, context: Context) async throws -> Response {
        let announced = request.headers[.contentLength].flatMap { Int($0) } ?? 0
        guard announced <= IncomingRequest.maximumBodySize else { return Response(routes.answer(.bodyTooLarge)) }
        let body: ByteBuffer
        do {
            body = try await request.body.collect(upTo: IncomingRequest.maximumBodySize)
        } catch is NIOTooManyBytesError {
            return Response(routes.answer(.bodyTooLarge))
        }
        return Response(routes.answer(IncomingRequest(request.head, body: Array(buffer: body))))
    }
}

extension IncomingRequest {
    fileprivate init(_ head: HTTPRequest, body: [UInt8]) {
        self.init(
            method: head.method.rawValue,
            target: head.path ?? "",
            contentType: head.headerFields[.contentType],
            contentEncoding: head.headerFields[.contentEncoding],
            body: body
        )
    }
}

extension Response {
    fileprivate init(_ answer: Answer) {
        self.init(
            status: .init(code: answer.status), headers: answer.headers,
            body: .init(byteBuffer: ByteBuffer(bytes: answer.body))
        )
    }
}
