import NIOCore
import NIOHTTP2

/// Ends an HTTP/2 connection that nobody uses, or that the service stops under.
///
/// The library's own handler waits for the client to agree before it closes; a client that does not would hold it up.
final class HTTP2ConnectionHandler: ChannelInboundHandler {
    typealias InboundIn = HTTP2Frame
    typealias OutboundOut = HTTP2Frame

    private let multiplexer: NIOHTTP2Handler.StreamMultiplexer
    private var openStreams = 0
    private var lastStream = HTTP2StreamID.rootStream
    private var isLastStreamKnown = false
    /// When the last stream ended; else when the connection began.
    private var idleSince: NIODeadline
    private var timeCheck: RepeatedTask?
    /// What is due later; it keeps the connection in memory.
    private var scheduled: [Scheduled<Void>] = []

    init(multiplexer: NIOHTTP2Handler.StreamMultiplexer, eventLoop: any EventLoop) {
        self.multiplexer = multiplexer
        idleSince = eventLoop.now
    }

    func handlerAdded(context: ChannelHandlerContext) {
        let ours = NIOLoopBound((handler: self, context: context), eventLoop: context.eventLoop)
        timeCheck = context.eventLoop.scheduleRepeatedTask(
            initialDelay: TimeLimit.checkInterval, delay: TimeLimit.checkInterval
        ) { _ in ours.value.handler.checkTime(ours.value.context) }
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        timeCheck?.cancel()
        timeCheck = nil
        for task in scheduled { task.cancel() }
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        switch event {
        case let event as NIOHTTP2StreamCreatedEvent:
            openStreams += 1
            lastStream = max(lastStream, event.streamID)
        case is StreamClosedEvent:
            openStreams -= 1
            idleSince = context.eventLoop.now
            if isLastStreamKnown, openStreams == 0 { close(context) }
        case is ChannelShouldQuiesceEvent: stop(context)
        case ChannelEvent.inputClosed: context.close(promise: nil)
        default: break
        }
        context.fireUserInboundEventTriggered(event)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }

    /// RFC 9113 section 6.8: first a word that no more streams are wanted, and those that are on their way are answered.
    private func stop(_ context: ChannelHandlerContext) {
        sendGoAway(lastStream: .maxID, context)
        schedule(in: TimeLimit.beginning, context) { self.endAfterOpenStreams(context) }
        schedule(in: TimeLimit.lastRequest, context) { context.close(promise: nil) }
    }

    private func endAfterOpenStreams(_ context: ChannelHandlerContext) {
        isLastStreamKnown = true
        sendGoAway(lastStream: lastStream, context)
        if openStreams == 0 { close(context) }
    }

    /// What has been written is sent first.
    private func close(_ context: ChannelHandlerContext) {
        schedule(in: .zero, context) { context.close(promise: nil) }
    }

    private func sendGoAway(lastStream: HTTP2StreamID, _ context: ChannelHandlerContext) {
        let payload = HTTP2Frame.FramePayload.goAway(
            lastStreamID: lastStream, errorCode: .noError, opaqueData: nil)
        context.writeAndFlush(wrapOutboundOut(HTTP2Frame(streamID: .rootStream, payload: payload)), promise: nil)
    }

    private func schedule(in time: TimeAmount, _ context: ChannelHandlerContext, _ work: @escaping () -> Void) {
        scheduled.append(context.eventLoop.assumeIsolated().scheduleTask(in: time, work))
    }

    private func checkTime(_ context: ChannelHandlerContext) {
        guard openStreams == 0, context.eventLoop.now - idleSince > TimeLimit.request else { return }
        isLastStreamKnown = true
        sendGoAway(lastStream: lastStream, context)
        close(context)
    }
}
