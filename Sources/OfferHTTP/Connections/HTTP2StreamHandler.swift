import NIOCore
import NIOHPACK
import NIOHTTP2
import OfferCore

/// The handler of an HTTP/2 stream (RFC 9113). It serves one request, by the same rules as ``HTTP1Handler``.
///
/// NIO has already checked the requirements of RFC 9113 section 8: field names and values, pseudo-header fields, and
/// the announced length of the body.
final class HTTP2StreamHandler: ChannelInboundHandler, ExchangeOwner, TimedHandler {
    typealias InboundIn = HTTP2Frame.FramePayload
    typealias OutboundOut = HTTP2Frame.FramePayload

    private enum State {
        case receiving
        /// The request is complete or was refused, and its response is pending.
        case answering(Exchange)
        /// The response has been written.
        case answered(at: NIODeadline)
        /// The stream has ended, possibly before its response was ready.
        case gone
    }

    /// The maximum number of unread response bytes on the connection. Above it, requests are refused.
    private static let maximumUnsentBytes = 256 * 1024
    /// The approximate memory of an open stream without its request, in bytes.
    private static let ownBytes = 8 * 1024

    private let responder: any Responder
    private let date: HTTPDate
    private let batch: ResponseBatch
    private let connection: OpenConnection
    private let parent: HTTP2ConnectionHandler
    private var state = State.receiving
    private var began: NIODeadline?
    /// The part of the request that has arrived; nil if there is no readable head yet.
    private var request: HTTPRequest?
    private var requestContext: RequestContext?
    private var isHead = false
    /// The request bytes that this stream has added to those of its connection.
    private var heldBytes = 0 { didSet { connection.requestBytes += heldBytes - oldValue } }
    /// The maximum time for which the client may leave the response unread.
    private var readingTime = TimeLimit.reading
    private var needsFlush = false
    /// The context of the handler; nil once the handler is removed or the stream is gone.
    private var context: ChannelHandlerContext?

    /// - Parameters:
    ///   - batch: the batch of the connection's event loop.
    ///   - parent: the handler of the connection.
    init(
        responder: any Responder, date: HTTPDate, batch: ResponseBatch, connection: OpenConnection,
        parent: HTTP2ConnectionHandler
    ) {
        self.responder = responder
        self.date = date
        self.batch = batch
        self.connection = connection
        self.parent = parent
    }

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
        began = context.eventLoop.now
        connection.ownBytes += Self.ownBytes
        parent.watch(self)
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        leave()
        connection.ownBytes -= Self.ownBytes
        parent.unwatch(self)
    }

    func channelInactive(context: ChannelHandlerContext) {
        leave()
        context.fireChannelInactive()
    }

    /// Releases the request and its exchange. The exchange and this handler refer to each other, so both would
    /// otherwise leak.
    private func leave() {
        context = nil
        if case .answering(let exchange) = state { exchange.abandon() }
        state = .gone
        request = nil
        heldBytes = 0
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }

    // MARK: Request

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard case .receiving = state else { return }
        switch unwrapInboundIn(data) {
        case .headers(let frame):
            // Headers after a body are trailers, which are ignored.
            if request == nil {
                do { try begin(frame.headers) } catch { return refuse(error) }
                guard !connection.hasTooManyRequestBytes else { return refuse(.tooManyBytes) }
            }
            if frame.endStream {
                endRequest(context)
            } else if frame.headers["expect"].contains(where: Self.isContinue) {
                context.writeAndFlush(wrapOutboundOut(.headers(.init(headers: [":status": "100"]))), promise: nil)
            }
        case .data(let frame):
            guard case .byteBuffer(let buffer) = frame.data else { return }
            guard hasRoom(for: buffer.readableBytes) else { return refuse(.bodyTooLarge) }
            request?.body += buffer.readableBytesView
            heldBytes += buffer.readableBytes
            guard !connection.hasTooManyRequestBytes else { return refuse(.tooManyBytes) }
            if frame.endStream { endRequest(context) }
        default: break
        }
    }

    private func hasRoom(for more: Int) -> Bool {
        guard let request, request.body.count + more > HTTPRequest.maximumBodySize else { return true }
        return request.body.count + more <= responder.maximumBodySize(of: request.path)
    }

    private static func isContinue(_ expectation: String) -> Bool { expectation.lowercased() == "100-continue" }

    /// Reads the head as soon as it arrives. The request keeps only the fields that it needs, because a head can take
    /// many times its size in memory.
    private func begin(_ head: HPACKHeaders) throws(RequestFault) {
        let context = RequestContext(head)
        requestContext = context
        isHead = head.first(name: ":method") == "HEAD"
        let request = try HTTPRequest(head, from: connection, context: context)
        self.request = request
        heldBytes += request.size
    }

    private func endRequest(_ context: ChannelHandlerContext) {
        connection.noteRequest(at: context.eventLoop.now)
        guard let request else { return refuse(.malformed) }
        guard connection.unsentBytes <= Self.maximumUnsentBytes else { return refuse(.unreadResponses) }
        answer(Exchange(request, owner: self))
    }

    private func refuse(_ fault: RequestFault) {
        let response = responder.response(to: fault, context: requestContext ?? RequestContext())
        answer(Exchange(.response(response), owner: self, hasBody: !isHead))
    }

    private func answer(_ exchange: Exchange) {
        request = nil
        heldBytes = exchange.size
        state = .answering(exchange)
        batch.add(exchange, from: connection)
    }

    // MARK: Response

    var isOpen: Bool { context != nil }

    func writeMessages() {
        guard let context, case .answering(let exchange) = state, case .response(let response) = exchange.takeMessage()
        else { return }
        state = .answered(at: context.eventLoop.now)
        heldBytes = 0
        write(response, hasBody: exchange.hasBody, context)
        needsFlush = true
    }

    func flushMessages() {
        guard needsFlush else { return }
        needsFlush = false
        context?.flush()
    }

    private func write(_ response: HTTPResponse, hasBody: Bool, _ context: ChannelHandlerContext) {
        var headers: HPACKHeaders = [":status": String(response.status)]
        for (name, value) in response.headers { headers.add(name: name.lowercased(), value: value) }
        headers.add(name: "date", value: String(decoding: date.now, as: UTF8.self))
        if let length = response.contentLength { headers.add(name: "content-length", value: String(length)) }
        let hasBody = hasBody && response.contentLength != nil
        context.write(wrapOutboundOut(.headers(.init(headers: headers, endStream: !hasBody))), promise: nil)
        guard hasBody else { return }
        let body = response.content.buffer
        let (connection, size) = (connection, body.readableBytes)
        connection.unsentBytes += size
        let sent = context.eventLoop.makePromise(of: Void.self)
        sent.futureResult.assumeIsolated().whenComplete { _ in connection.unsentBytes -= size }
        context.write(wrapOutboundOut(.data(.init(data: .byteBuffer(body), endStream: true))), promise: sent)
    }

    // MARK: Time

    func checkTime(_ now: NIODeadline) {
        guard let context else { return }
        switch state {
        case .receiving:
            guard let began, now - began > TimeLimit.request else { return }
            readingTime = TimeLimit.lingering
            refuse(.timedOut)
        case .answering, .gone: break
        case .answered(let time):
            // If the client does not read its response or end its request in time, close the stream and end the
            // connection.
            guard now - time > readingTime else { return }
            context.channel.parent?.pipeline.fireUserInboundEventTriggered(ChannelShouldQuiesceEvent())
            context.close(promise: nil)
        }
    }
}

extension HTTPRequest {
    fileprivate init(
        _ head: HPACKHeaders, from connection: OpenConnection, context: RequestContext
    ) throws(RequestFault) {
        var size = 0
        for field in head { size += field.name.utf8.count + field.value.utf8.count }
        guard head.count <= RequestHead.maximumLines, size <= RequestHead.maximumSize,
            let method = head.first(name: ":method"), (1...32).contains(method.utf8.count),
            method.utf8.allSatisfy(RequestHead.isTokenCharacter),
            let target = head.first(name: ":path"), target.hasPrefix("/") || target == "*",
            target.utf8.allSatisfy({ (0x21...0x7E).contains($0) }), head.isUnambiguous,
            let host = (head.first(name: ":authority") ?? head.first(name: "host")).flatMap({ URIHost.text(in: $0) })
        else { throw .malformed }
        self.init(
            method: method, target: target, host: host, contentType: head.joined("content-type"),
            contentEncoding: head.joined("content-encoding"),
            authorization: head.only("authorization"), peer: connection.peer,
            forwardedFor: head.joined("x-forwarded-for"), idempotencyKey: head.only("idempotency-key"),
            browser: BrowserHeaders(
                ifAny: head["cookie"], fetchSite: head.only("sec-fetch-site"), origin: head.only("origin"),
                ifNoneMatch: head.only("if-none-match")),
            context: context, standing: connection.standing)
    }
}

extension RequestContext {
    fileprivate init(_ head: HPACKHeaders) {
        self.init(requestID: head.only("x-request-id"), traceparent: head.only("traceparent"))
    }
}

extension HPACKHeaders {
    /// True if every field has only one possible reading, by the rules that ``RequestHead`` applies to HTTP/1.1.
    fileprivate var isUnambiguous: Bool {
        let lengths = self["content-length"]
        let hosts = self["host"] + self[":authority"]
        return lengths.count <= 1
            && lengths.allSatisfy {
                !$0.isEmpty && $0.utf8.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
            }
            && self["expect"].allSatisfy { $0.lowercased() == "100-continue" }
            && Set(hosts).count == 1
    }

    /// Returns the value of the field with this name: nil if there is none, and an empty string if there are several.
    fileprivate func only(_ name: String) -> String? {
        let values = self[name]
        return values.count > 1 ? "" : values.first
    }

    fileprivate func joined(_ name: String) -> String? {
        let values = self[name]
        return values.isEmpty ? nil : values.joined(separator: ", ")
    }
}
