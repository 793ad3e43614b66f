import NIOCore

/// Answers the requests of one connection, each right on the event loop that read it.
///
/// An offer takes some 60 µs of computing and waits for nothing, so a change of thread or task would only add to it.
final class RequestHandler: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundIn = Never
    typealias OutboundOut = ByteBuffer

    private let routes: Routes
    private let date: HTTPDate
    private let batch: AnswerBatch
    private var reader = RequestReader()
    /// After an answer that ends the connection: whatever still comes is dropped.
    private var isDiscarding = false
    private var isWaitingInBatch = false
    private var isReadDue = false
    private var shouldCloseAfterAnswer = false
    /// When the last event of the reader was.
    private var lastEvent = NIODeadline.now()
    private var timeCheck: RepeatedTask?
    /// What is due later; it keeps the connection in memory.
    private var scheduled: [Scheduled<Void>] = []
    /// While we are part of the connection.
    private var context: ChannelHandlerContext?

    /// - Parameter batch: the one of the connection's event loop.
    init(routes: Routes, date: HTTPDate, batch: AnswerBatch) {
        self.routes = routes
        self.date = date
        self.batch = batch
    }

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
        let ours = NIOLoopBound((handler: self, context: context), eventLoop: context.eventLoop)
        timeCheck = context.eventLoop.scheduleRepeatedTask(
            initialDelay: TimeLimit.checkInterval, delay: TimeLimit.checkInterval
        ) { _ in ours.value.handler.checkTime(ours.value.context) }
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        timeCheck?.cancel()
        timeCheck = nil
        for task in scheduled { task.cancel() }
        self.context = nil
    }

    // MARK: Requests

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard !isDiscarding else { return }
        reader.add(unwrapInboundIn(data))
        let wasInBody = reader.isInBody
        do {
            while !isDiscarding, let event = try reader.next() {
                lastEvent = .now()
                switch event {
                case .expectsContinue:
                    context.writeAndFlush(
                        wrapOutboundOut(ByteBuffer(string: "HTTP/1.1 100 Continue\r\n\r\n")), promise: nil)
                case .request(let head, let body):
                    answer(head, body: body, context: context)
                }
            }
        } catch {
            return end(with: error, withBody: !reader.asksForHead, context: context)
        }
        if reader.isInBody, !wasInBody { lastEvent = .now() }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        if !isDiscarding { context.close(promise: nil) }
    }

    // MARK: Answers

    private func answer(_ head: RequestHead, body: [UInt8], context: ChannelHandlerContext) {
        let answer = routes.answer(IncomingRequest(head, body: body))
        let isLast = shouldCloseAfterAnswer || head.isLast
        write(answer, withBody: head.method != "HEAD", isLast: isLast, context: context)
        if isLast {
            closeGently(context)
        } else {
            isWaitingInBatch = true
            batch.add(self, on: context.eventLoop)
        }
    }

    /// Answers with a problem after which the connection cannot go on.
    private func end(with problem: Problem, withBody: Bool = true, context: ChannelHandlerContext) {
        write(routes.answer(problem), withBody: withBody, isLast: true, context: context)
        closeGently(context)
    }

    private func write(_ answer: Answer, withBody: Bool, isLast: Bool, context: ChannelHandlerContext) {
        var buffer = context.channel.allocator.buffer(capacity: 512)
        buffer.write(answer, withBody: withBody, date: date.now, isLast: isLast)
        context.write(wrapOutboundOut(buffer), promise: nil)
    }

    /// Sends what has been written.
    func sendAnswers() {
        if isWaitingInBatch { context?.flush() }
        isWaitingInBatch = false
    }

    // MARK: Back pressure

    /// Does not read on while the client leaves its answers unread.
    func read(context: ChannelHandlerContext) {
        isReadDue = !context.channel.isWritable
        if !isReadDue { context.read() }
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        if isReadDue, context.channel.isWritable {
            isReadDue = false
            context.read()
        }
        context.fireChannelWritabilityChanged()
    }

    // MARK: Ends

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        switch event {
        case ChannelEvent.inputClosed where isDiscarding:
            context.close(promise: nil)
        case ChannelEvent.inputClosed where reader.hasBegun:
            end(with: .malformedHTTP, withBody: !reader.asksForHead, context: context)
        case ChannelEvent.inputClosed:
            closeGently(context)
        case is ChannelShouldQuiesceEvent:
            stop(context)
        default:
            context.fireUserInboundEventTriggered(event)
        }
    }

    /// The service stops. What has begun is answered, and so is what is on its way: a request may be in the socket
    /// already, whole or in part. Nobody may hold up the end for long.
    private func stop(_ context: ChannelHandlerContext) {
        shouldCloseAfterAnswer = true
        schedule(in: TimeLimit.beginning, context) {
            if !self.isDiscarding, !self.reader.hasBegun { self.closeGently(context) }
        }
        schedule(in: TimeLimit.lastRequest, context) { context.close(promise: nil) }
    }

    /// Sends what is written, ends our half, and reads on for a moment: closing at once, with bytes unread, would take
    /// the answer back from a client that is still sending.
    private func closeGently(_ context: ChannelHandlerContext) {
        isDiscarding = true
        context.flush()
        let sent = context.eventLoop.makePromise(of: Void.self)
        context.close(mode: .output, promise: sent)
        sent.futureResult.assumeIsolated().whenComplete { _ in
            self.schedule(in: TimeLimit.lingering, context) { context.close(promise: nil) }
        }
    }

    private func schedule(in time: TimeAmount, _ context: ChannelHandlerContext, _ work: @escaping () -> Void) {
        guard self.context != nil else { return }
        scheduled.append(context.eventLoop.assumeIsolated().scheduleTask(in: time, work))
    }

    private func checkTime(_ context: ChannelHandlerContext) {
        let elapsed = NIODeadline.now() - lastEvent
        if isDiscarding {
            if elapsed > TimeLimit.idle + TimeLimit.request { context.close(promise: nil) }
        } else if reader.isInBody {
            if elapsed > TimeLimit.request { end(with: .requestTimeout, context: context) }
        } else if elapsed > TimeLimit.idle {
            closeGently(context)
        }
    }
}

/// How long a connection may take for what. The time is looked at in intervals, so each may take one more.
private enum TimeLimit {
    static let checkInterval: TimeAmount = .seconds(5)
    /// Between two requests, or for the head of one.
    static let idle: TimeAmount = .seconds(60)
    /// From the end of a request's head to the end of its body.
    static let request: TimeAmount = .seconds(20)
    /// For a request to begin to arrive when the service stops: it may be on its way.
    static let beginning: TimeAmount = .seconds(1)
    /// For everything else then: the rest of the request, and the client to take the answer.
    static let lastRequest: TimeAmount = .seconds(10)
    /// For the client to take the last answer.
    static let lingering: TimeAmount = .seconds(2)
}

extension IncomingRequest {
    fileprivate init(_ head: RequestHead, body: [UInt8]) {
        self.init(
            method: head.method, target: head.target, contentType: head.contentType,
            contentEncoding: head.contentEncoding, authorization: head.authorization,
            body: body)
    }
}
