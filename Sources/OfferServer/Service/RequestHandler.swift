package import NIOCore
import NIOSSL
import OfferCore

/// Answers the requests of one connection, each right on the event loop that read it.
///
/// An offer takes some 60 µs of computing and waits for nothing, so a change of thread or task would only add to it.
package final class RequestHandler: ChannelDuplexHandler, RemovableChannelHandler {
    package typealias InboundIn = ByteBuffer
    package typealias OutboundIn = Never
    package typealias OutboundOut = ByteBuffer

    private let routes: Routes
    private let date: HTTPDate
    private let turn: LoopTurn
    private let connection: OpenConnection
    private var reader = RequestReader()
    /// After an answer that ends the connection: whatever still comes is dropped.
    private var isDiscarding = false
    private var isWaitingToBeSent = false
    private var isReadDue = false
    private var shouldCloseAfterAnswer = false
    /// When the request that is being read began; else when the last one was answered.
    private var phaseBegan: NIODeadline
    private var timeCheck: RepeatedTask?
    /// What is due later; it keeps the connection in memory.
    private var scheduled: [Scheduled<Void>] = []
    /// While we are part of the connection.
    private var context: ChannelHandlerContext?

    /// - Parameter turn: the one of the connection's event loop.
    package init(routes: Routes, date: HTTPDate, turn: LoopTurn, connection: OpenConnection) {
        self.routes = routes
        self.date = date
        self.turn = turn
        self.connection = connection
        phaseBegan = connection.lastRequest
    }

    package func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
        let ours = NIOLoopBound((handler: self, context: context), eventLoop: context.eventLoop)
        timeCheck = context.eventLoop.scheduleRepeatedTask(
            initialDelay: TimeLimit.checkInterval, delay: TimeLimit.checkInterval
        ) { _ in ours.value.handler.checkTime(ours.value.context) }
    }

    package func handlerRemoved(context: ChannelHandlerContext) {
        timeCheck?.cancel()
        timeCheck = nil
        for task in scheduled { task.cancel() }
        self.context = nil
    }

    // MARK: Requests

    package func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard !isDiscarding else { return }
        let hadBegun = reader.hasBegun
        reader.add(unwrapInboundIn(data))
        readRequests(hadBegun: hadBegun, context: context)
    }

    /// Reads requests and answers them, but no more of them than the client takes answers.
    /// - Parameter hadBegun: whether something of the first of them has been there for longer.
    private func readRequests(hadBegun: Bool, context: ChannelHandlerContext) {
        var hadBegun = hadBegun
        do {
            while !isDiscarding, context.channel.isWritable, let event = try reader.next() {
                switch event {
                case .expectsContinue:
                    context.writeAndFlush(
                        wrapOutboundOut(ByteBuffer(string: "HTTP/1.1 100 Continue\r\n\r\n")), promise: nil)
                case .request(let head, let body):
                    answer(head, body: body, context: context)
                    hadBegun = false
                }
            }
        } catch {
            return end(with: error, withBody: !reader.asksForHead, context: context)
        }
        if reader.hasBegun, !hadBegun { phaseBegan = context.eventLoop.now }
    }

    package func errorCaught(context: ChannelHandlerContext, error: any Error) {
        // A client that ends TLS without a word. Its input is closed, which comes next; what it asked for is answered.
        if error as? NIOSSLError == .uncleanShutdown { return }
        if !isDiscarding { context.close(promise: nil) }
    }

    // MARK: Answers

    private func answer(_ head: RequestHead, body: [UInt8], context: ChannelHandlerContext) {
        let now = context.eventLoop.now
        let isLate = turn.waited(by: now) > TimeLimit.wait
        let answer = routes.answer(IncomingRequest(head, peer: connection.peer, isLate: isLate, body: body))
        phaseBegan = now
        connection.noteAnswer(at: now)
        let isLast = shouldCloseAfterAnswer || head.isLast
        write(answer, withBody: head.method != "HEAD", isLast: isLast, context: context)
        if isLast {
            closeGently(context)
        } else {
            isWaitingToBeSent = true
            turn.add(self)
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
        if isWaitingToBeSent { context?.flush() }
        isWaitingToBeSent = false
    }

    // MARK: Back pressure

    /// Does not read on while the client leaves its answers unread.
    package func read(context: ChannelHandlerContext) {
        isReadDue = !context.channel.isWritable
        if !isReadDue { context.read() }
    }

    package func channelWritabilityChanged(context: ChannelHandlerContext) {
        if context.channel.isWritable {
            readRequests(hadBegun: reader.hasBegun, context: context)
            if isReadDue {
                isReadDue = false
                read(context: context)
            }
        }
        context.fireChannelWritabilityChanged()
    }

    // MARK: Ends

    package func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
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
        phaseBegan = context.eventLoop.now
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
        let elapsed = context.eventLoop.now - phaseBegan
        if isDiscarding || context.channel.hasUnsentAnswers {
            if elapsed > TimeLimit.answer { context.close(promise: nil) }
        } else if reader.hasBegun {
            if elapsed > TimeLimit.request {
                end(with: .requestTimeout, withBody: !reader.asksForHead, context: context)
            }
        } else if elapsed > (connection.hasAnswered ? TimeLimit.idle : TimeLimit.request) {
            closeGently(context)
        }
    }
}

extension IncomingRequest {
    fileprivate init(_ head: RequestHead, peer: IPAddress?, isLate: Bool, body: [UInt8]) {
        self.init(
            method: head.method, target: head.target, contentType: head.contentType,
            contentEncoding: head.contentEncoding, authorization: head.authorization, peer: peer,
            forwardedFor: head.forwardedFor, isLate: isLate, body: body)
    }
}
