package import NIOCore
import NIOSSL
import OfferCore

/// Answers the requests of one connection, each right on the event loop that read it.
///
/// An offer takes some 50 µs of computing and waits for nothing, so a change of thread or task would only add to it. It is
/// signed when the event loop's turn has read what there is, and its answer then waits for the audit trail.
package final class RequestHandler: ChannelDuplexHandler, RemovableChannelHandler, AnswerSender {
    package typealias InboundIn = ByteBuffer
    package typealias OutboundIn = Never
    package typealias OutboundOut = ByteBuffer

    /// What is to be written, when its turn has come.
    private enum Unsent {
        case answer(Answer, withBody: Bool, isLast: Bool)
        /// That the rest of the next request may come.
        case `continue`
    }

    /// What waits for its turn to be answered.
    private enum Unanswered {
        case request(IncomingRequest, isLast: Bool)
        /// What needs no more than to be written.
        case settled(Unsent)
    }

    /// Beyond that no more requests are read.
    private static let maximumUnsent = 64

    private let routes: Routes
    private let date: HTTPDate
    private let turn: LoopTurn
    private let connection: OpenConnection
    private var reader = RequestReader()
    /// After an answer that ends the connection: whatever still comes is dropped.
    private var isDiscarding = false
    /// In the order in which they came.
    private var unanswered: [Unanswered] = []
    /// In the order of their requests.
    private var unsent: [Unsent] = []
    private var isFlushDue = false
    private var isReadDue = false
    private var isInputClosed = false
    /// Whether the client has, or the kernel for it, what there was to send before our half ended.
    private var isAllSent = false
    /// Whether our half ends when everything is sent.
    private var shouldCloseWhenSent = false
    private var shouldCloseAfterAnswer = false
    /// When the request that is being read began; else when the last one was read.
    private var phaseBegan: NIODeadline
    private var timeCheck: RepeatedTask?
    /// What is due later; it keeps the connection in memory.
    private var scheduled: [Scheduled<Void>] = []
    /// While we are part of the connection, and it is there.
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

    package func channelInactive(context: ChannelHandlerContext) {
        self.context = nil
        context.fireChannelInactive()
    }

    // MARK: Requests

    package func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard !isDiscarding else { return }
        let hadBegun = reader.hasBegun
        reader.add(unwrapInboundIn(data))
        readRequests(hadBegun: hadBegun, context: context)
    }

    /// Reads requests to be answered, but no more of them than the client takes answers.
    /// - Parameter hadBegun: whether something of the first of them has been there for longer.
    private func readRequests(hadBegun: Bool, context: ChannelHandlerContext) {
        var hadBegun = hadBegun
        do {
            while !isDiscarding, mayReadOn(context), let event = try reader.next() {
                switch event {
                case .expectsContinue:
                    add(.settled(.continue))
                case .request(let head, let body):
                    add(head, body: body, context: context)
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

    private func add(_ head: RequestHead, body: [UInt8], context: ChannelHandlerContext) {
        let now = context.eventLoop.now
        phaseBegan = now
        connection.noteRequest(at: now)
        let isLast = shouldCloseAfterAnswer || head.isLast
        // Before it is added, which may send it at once, and read on.
        isDiscarding = isLast
        add(.request(IncomingRequest(head, peer: connection.peer, body: body), isLast: isLast))
        if isLast { closeGently(context) }
    }

    /// Answers with a problem after which the connection cannot go on.
    private func end(with problem: Problem, withBody: Bool = true, context: ChannelHandlerContext) {
        let answer = routes.answer(problem, to: RequestContext(reader.head))
        isDiscarding = true
        add(.settled(.answer(answer, withBody: withBody, isLast: true)))
        closeGently(context)
    }

    private func add(_ next: Unanswered) {
        unanswered.append(next)
        turn.add(self)
    }

    /// Whether there is something that has come and whose answer has not been written.
    private var isAnswering: Bool { !unanswered.isEmpty || !unsent.isEmpty }

    func makeAnswer(isLate: Bool) -> (recordedAt: AuditTrail.Span?, isNext: Bool) {
        // Nothing is signed for a connection that is gone.
        guard context != nil, !unanswered.isEmpty else { return (nil, true) }
        let isNext = unsent.isEmpty
        switch unanswered.removeFirst() {
        case .request(var request, let isLast):
            request.isLate = isLate
            let answer = routes.answer(request)
            unsent.append(.answer(answer, withBody: request.method != "HEAD", isLast: isLast))
            return (answer.recordedAt, isNext)
        case .settled(let next):
            unsent.append(next)
            return (nil, isNext)
        }
    }

    func writeAnswer(isRecorded: Bool) {
        guard let context, !unsent.isEmpty else { return }
        var buffer = context.channel.allocator.buffer(capacity: 512)
        switch unsent.removeFirst() {
        case .continue:
            buffer.writeStaticString("HTTP/1.1 100 Continue\r\n\r\n")
        case .answer(let answer, let withBody, let isLast):
            buffer.write(
                routes.settled(answer, isRecorded: isRecorded), withBody: withBody, date: date.now, isLast: isLast)
        }
        context.write(wrapOutboundOut(buffer), promise: nil)
        isFlushDue = true
        if !isAnswering, shouldCloseWhenSent { closeGently(context) }
    }

    func flushAnswers() {
        guard isFlushDue, let context else { return }
        isFlushDue = false
        context.flush()
        // Where there were too many of them to read on.
        if isReadDue || isInputClosed { readOn(context) }
    }

    // MARK: Back pressure

    /// No more requests are read while the client leaves its answers unread, or they wait for the audit trail.
    private func mayReadOn(_ context: ChannelHandlerContext) -> Bool {
        context.channel.isWritable && unanswered.count + unsent.count < Self.maximumUnsent
    }

    package func read(context: ChannelHandlerContext) {
        isReadDue = !mayReadOn(context)
        if !isReadDue { context.read() }
    }

    package func channelWritabilityChanged(context: ChannelHandlerContext) {
        readOn(context)
        context.fireChannelWritabilityChanged()
    }

    private func readOn(_ context: ChannelHandlerContext) {
        guard mayReadOn(context) else { return }
        readRequests(hadBegun: reader.hasBegun, context: context)
        if isInputClosed { endInput(context) }
        if isReadDue { read(context: context) }
    }

    // MARK: Ends

    package func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        switch event {
        case ChannelEvent.inputClosed:
            isInputClosed = true
            endInput(context)
        case is ChannelShouldQuiesceEvent:
            stop(context)
        default:
            context.fireUserInboundEventTriggered(event)
        }
    }

    /// Nothing more comes. What has come is answered first.
    private func endInput(_ context: ChannelHandlerContext) {
        if isDiscarding {
            if isAllSent { context.close(promise: nil) }
        } else if mayReadOn(context) {
            if reader.hasBegun {
                end(with: .malformedHTTP, withBody: !reader.asksForHead, context: context)
            } else {
                closeGently(context)
            }
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

    /// Sends what there is to send, ends our half, and reads on for a moment: closing at once, with bytes unread, would take
    /// the answer back from a client that is still sending.
    private func closeGently(_ context: ChannelHandlerContext) {
        isDiscarding = true
        phaseBegan = context.eventLoop.now
        shouldCloseWhenSent = true
        guard !isAnswering else { return }
        let sent = context.eventLoop.makePromise(of: Void.self)
        if isInputClosed {
            // To end the other half as well would be to end the connection, and what has not been taken with it.
            context.writeAndFlush(wrapOutboundOut(ByteBuffer()), promise: sent)
        } else {
            context.flush()
            context.close(mode: .output, promise: sent)
        }
        sent.futureResult.assumeIsolated().whenComplete { _ in
            self.isAllSent = true
            if self.isInputClosed { return context.close(promise: nil) }
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
        } else if elapsed > (connection.hasRequested ? TimeLimit.idle : TimeLimit.request) {
            closeGently(context)
        }
    }
}

extension IncomingRequest {
    fileprivate init(_ head: RequestHead, peer: IPAddress?, body: [UInt8]) {
        self.init(
            method: head.method, target: head.target, contentType: head.contentType,
            contentEncoding: head.contentEncoding, authorization: head.authorization, peer: peer,
            forwardedFor: head.forwardedFor, context: RequestContext(head), body: body)
    }
}

extension RequestContext {
    /// - Parameter head: as far as it could be read.
    fileprivate init(_ head: RequestHead?) {
        self.init(requestID: head?.requestID, traceparent: head?.traceparent)
    }
}
