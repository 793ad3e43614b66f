import NIOCore
import NIOHPACK
import NIOHTTP2
import OfferCore

/// Answers the one request of an HTTP/2 stream (RFC 9113), as ``RequestHandler`` does those of an HTTP/1.1 connection.
///
/// The library has checked by then what RFC 9113 section 8 asks of the fields: their names and values, the pseudo-header
/// fields, the length of the body against the one announced.
final class HTTP2StreamHandler: ChannelInboundHandler, AnswerSender {
    typealias InboundIn = HTTP2Frame.FramePayload
    typealias OutboundOut = HTTP2Frame.FramePayload

    /// Beyond that a client is told no more than that: it opens streams, and does not take what they bring.
    private static let maximumUnsentBytes = 256 * 1024

    private let routes: Routes
    private let date: HTTPDate
    private let turn: LoopTurn
    private let connection: OpenConnection
    private var head: HPACKHeaders?
    private var requestContext: RequestContext?
    private var body: [UInt8] = []
    /// Whether the request is there whole, or will not be.
    private var isRead = false
    /// What is to be answered, when its turn has come.
    private var request: IncomingRequest?
    /// What is to be written then.
    private var unsent: Answer?
    /// While we are part of the stream, and it is there.
    private var context: ChannelHandlerContext?
    private var deadline: Scheduled<Void>?
    /// How long the client may leave the answer untaken.
    private var timeToTake = TimeLimit.answer

    /// - Parameter turn: the one of the connection's event loop.
    init(routes: Routes, date: HTTPDate, turn: LoopTurn, connection: OpenConnection) {
        self.routes = routes
        self.date = date
        self.turn = turn
        self.connection = connection
    }

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
        deadline = context.eventLoop.assumeIsolated().scheduleTask(in: TimeLimit.request) {
            self.timeToTake = TimeLimit.lingering
            self.answer(with: .requestTimeout)
        }
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        self.context = nil
        deadline?.cancel()
    }

    func channelInactive(context: ChannelHandlerContext) {
        self.context = nil
        context.fireChannelInactive()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard !isRead else { return }
        switch unwrapInboundIn(data) {
        case .headers(let frame):
            // Those behind a body are trailers, of which nothing is used.
            if head == nil {
                head = frame.headers
                requestContext = RequestContext(frame.headers)
            }
            if frame.endStream {
                endRequest(context)
            } else if frame.headers["expect"].contains(where: Self.isContinue) {
                context.writeAndFlush(wrapOutboundOut(.headers(.init(headers: [":status": "100"]))), promise: nil)
            }
        case .data(let frame):
            guard case .byteBuffer(let buffer) = frame.data else { return }
            guard body.count + buffer.readableBytes <= IncomingRequest.maximumBodySize else {
                return answer(with: .bodyTooLarge)
            }
            body += buffer.readableBytesView
            if frame.endStream { endRequest(context) }
        default: break
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }

    // MARK: Answers

    private func endRequest(_ context: ChannelHandlerContext) {
        connection.noteRequest(at: context.eventLoop.now)
        do throws(Problem) {
            guard let head, let requestContext else { throw .malformedHTTP }
            guard connection.unsentBytes <= Self.maximumUnsentBytes else { throw .overloaded }
            request = try IncomingRequest(head, peer: connection.peer, context: requestContext, body: body)
            addToTurn()
        } catch {
            answer(with: error)
        }
    }

    private static func isContinue(_ expectation: String) -> Bool { expectation.lowercased() == "100-continue" }

    private func answer(with problem: Problem) {
        guard !isRead else { return }
        unsent = routes.answer(problem, to: requestContext ?? RequestContext())
        addToTurn()
    }

    private func addToTurn() {
        isRead = true
        deadline?.cancel()
        turn.add(self)
    }

    func makeAnswer(isLate: Bool) -> (recordedAt: AuditTrail.Span?, isNext: Bool) {
        // Nothing is signed for a stream that is gone.
        if context != nil, var request {
            request.isLate = isLate
            unsent = routes.answer(request)
        }
        request = nil
        return (unsent?.recordedAt, true)
    }

    func writeAnswer(isRecorded: Bool) {
        guard let context, let answer = unsent else { return }
        unsent = nil
        write(routes.settled(answer, isRecorded: isRecorded), context)
    }

    func flushAnswers() { context?.flush() }

    private func write(_ answer: Answer, _ context: ChannelHandlerContext) {
        var headers: HPACKHeaders = [":status": String(answer.status)]
        for (name, value) in answer.headers { headers.add(name: name.lowercased(), value: value) }
        headers.add(name: "date", value: String(decoding: date.now, as: UTF8.self))
        headers.add(name: "content-length", value: String(answer.body.count))
        let hasBody = head?.first(name: ":method") != "HEAD"
        context.write(wrapOutboundOut(.headers(.init(headers: headers, endStream: !hasBody))), promise: nil)
        if hasBody {
            let body = ByteBuffer(bytes: answer.body)
            let (connection, size) = (connection, body.readableBytes)
            connection.unsentBytes += size
            let sent = context.eventLoop.makePromise(of: Void.self)
            sent.futureResult.assumeIsolated().whenComplete { _ in connection.unsentBytes -= size }
            context.write(wrapOutboundOut(.data(.init(data: .byteBuffer(body), endStream: true))), promise: sent)
        }
        giveUpLater(context)
    }

    /// A client that does not take its answer, or does not end its request, keeps neither the stream nor the connection.
    private func giveUpLater(_ context: ChannelHandlerContext) {
        deadline = context.eventLoop.assumeIsolated().scheduleTask(in: timeToTake) {
            context.channel.parent?.pipeline.fireUserInboundEventTriggered(ChannelShouldQuiesceEvent())
            context.close(promise: nil)
        }
    }
}

extension IncomingRequest {
    fileprivate init(
        _ head: HPACKHeaders, peer: IPAddress?, context: RequestContext, body: [UInt8]
    ) throws(Problem) {
        var size = 0
        for field in head { size += field.name.utf8.count + field.value.utf8.count }
        guard head.count <= RequestHead.maximumLines, size <= RequestHead.maximumSize,
            let method = head.first(name: ":method"), (1...32).contains(method.utf8.count),
            method.utf8.allSatisfy(RequestHead.isTokenCharacter),
            let target = head.first(name: ":path"), target.hasPrefix("/") || target == "*",
            target.utf8.allSatisfy({ (0x21...0x7E).contains($0) }), head.agrees
        else { throw .malformedHTTP }
        self.init(
            method: method, target: target, contentType: head.joined("content-type"),
            contentEncoding: head.joined("content-encoding"),
            authorization: head.only("authorization"), peer: peer, forwardedFor: head.joined("x-forwarded-for"),
            context: context, body: body)
    }
}

extension RequestContext {
    fileprivate init(_ head: HPACKHeaders) {
        self.init(requestID: head.only("x-request-id"), traceparent: head.only("traceparent"))
    }
}

extension HPACKHeaders {
    /// Whether nothing in it could mean two things, as ``RequestHead`` has it for HTTP/1.1.
    fileprivate var agrees: Bool {
        let lengths = self["content-length"]
        let hosts = self["host"] + self[":authority"]
        return lengths.count <= 1
            && lengths.allSatisfy {
                !$0.isEmpty && $0.utf8.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
            }
            && self["expect"].allSatisfy { $0.lowercased() == "100-continue" }
            && Set(hosts).count == 1
    }

    /// The value of the one field of this name; empty where there are several.
    fileprivate func only(_ name: String) -> String? {
        let values = self[name]
        return values.count > 1 ? "" : values.first
    }

    fileprivate func joined(_ name: String) -> String? {
        let values = self[name]
        return values.isEmpty ? nil : values.joined(separator: ", ")
    }
}
