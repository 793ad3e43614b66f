import NIOCore
import NIOHTTP2

/// Ends an HTTP/2 connection that nobody uses, that goes wrong, or that the service stops under.
///
/// The library's own handler waits for the client to agree before it closes; a client that does not would hold it up.
final class HTTP2ConnectionHandler: ChannelDuplexHandler {
    typealias InboundIn = HTTP2Frame
    typealias OutboundIn = Never
    typealias OutboundOut = HTTP2Frame

    private var openStreams = 0
    private var lastStream = HTTP2StreamID.rootStream
    /// When the last stream ended; else when the connection began.
    private var idleSince: NIODeadline
    /// Since when the client has left answers unread.
    private var unsentSince: NIODeadline?
    private var isEnding = false
    private var isEnded = false
    private var isReadDue = false
    private var context: ChannelHandlerContext?
    private var timeCheck: RepeatedTask?
    /// What is due later; it keeps the connection in memory.
    private var scheduled: [Scheduled<Void>] = []

    init(eventLoop: any EventLoop) {
        idleSince = eventLoop.now
    }

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
        let ours = NIOLoopBound((handler: self, context: context), eventLoop: context.eventLoop)
        timeCheck = context.eventLoop.scheduleRepeatedTask(
            initialDelay: TimeLimit.checkInterval, delay: TimeLimit.checkInterval
        ) { _ in ours.value.handler.checkTime(ours.value.context) }
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        self.context = nil
        timeCheck?.cancel()
        timeCheck = nil
        for task in scheduled { task.cancel() }
    }

    // MARK: Streams

    func streamCreated(_ id: HTTP2StreamID) {
        openStreams += 1
        lastStream = max(lastStream, id)
    }

    func streamClosed() {
        openStreams -= 1
        guard let context else { return }
        idleSince = context.eventLoop.now
        if isEnded, openStreams == 0 { close(context) }
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
        case is ChannelShouldQuiesceEvent: end(context)
        case ChannelEvent.inputClosed: endInput(context)
        default: break
        }
        context.fireUserInboundEventTriggered(event)
    }

    /// The client has been told by the library. What went wrong may be one stream of many, so the others are answered.
    func errorCaught(context: ChannelHandlerContext, error: any Error) { end(context) }

    /// What is on its way is answered. Then the client is told which stream was the last (RFC 9113 section 6.8): from there
    /// on the library refuses all, so the client knows that they may be asked for elsewhere.
    private func end(_ context: ChannelHandlerContext) {
        guard !isEnding else { return }
        isEnding = true
        schedule(in: TimeLimit.beginning, context) {
            self.isEnded = true
            if self.openStreams == 0 { self.close(context) } else { self.sendGoAway(context) }
        }
        closeAtLast(context)
    }

    /// Nothing more comes. What has come whole is answered first.
    private func endInput(_ context: ChannelHandlerContext) {
        isEnding = true
        isEnded = true
        closeAtLast(context)
        if openStreams == 0 { close(context) }
    }

    /// Nobody may hold up the end for long.
    private func closeAtLast(_ context: ChannelHandlerContext) {
        schedule(in: TimeLimit.lastRequest, context) { context.close(promise: nil) }
    }

    /// What has been written is sent first: a stream is closed when its answer is written, and not when it is sent.
    private func close(_ context: ChannelHandlerContext) {
        schedule(in: .zero, context) {
            let sent = context.eventLoop.makePromise(of: Void.self)
            sent.futureResult.assumeIsolated().whenComplete { _ in context.close(promise: nil) }
            self.sendGoAway(context, sent)
        }
    }

    private func sendGoAway(_ context: ChannelHandlerContext, _ sent: EventLoopPromise<Void>? = nil) {
        let payload = HTTP2Frame.FramePayload.goAway(
            lastStreamID: lastStream, errorCode: .noError, opaqueData: nil)
        context.writeAndFlush(wrapOutboundOut(HTTP2Frame(streamID: .rootStream, payload: payload)), promise: sent)
    }

    private func schedule(in time: TimeAmount, _ context: ChannelHandlerContext, _ work: @escaping () -> Void) {
        guard self.context != nil else { return }
        scheduled.append(context.eventLoop.assumeIsolated().scheduleTask(in: time, work))
    }

    private func checkTime(_ context: ChannelHandlerContext) {
        let now = context.eventLoop.now
        unsentSince = context.channel.hasUnsentAnswers ? unsentSince ?? now : nil
        if let unsentSince, now - unsentSince > TimeLimit.answer {
            context.close(promise: nil)
        } else if openStreams == 0, now - idleSince > TimeLimit.request {
            // Earlier than over HTTP/1.1, because the client is told first and loses nothing by it.
            end(context)
        }
    }
}

/// What the library tells of the streams of one connection.
struct HTTP2StreamObserver: NIOHTTP2StreamDelegate {
    private let handler: NIOLoopBound<HTTP2ConnectionHandler>

    init(_ handler: HTTP2ConnectionHandler, eventLoop: any EventLoop) {
        self.handler = NIOLoopBound(handler, eventLoop: eventLoop)
    }

    func streamCreated(_ id: HTTP2StreamID, channel: any Channel) { handler.value.streamCreated(id) }

    func streamClosed(_ id: HTTP2StreamID, channel: any Channel) { handler.value.streamClosed() }
}
