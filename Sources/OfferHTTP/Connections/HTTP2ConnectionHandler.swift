import NIOCore
import NIOHTTP2

/// The handler that closes an HTTP/2 connection (RFC 9113) when it is idle, has failed, or is draining.
///
/// NIO's own handler waits for the client to agree before it closes, so an uncooperative client could keep the
/// connection open.
final class HTTP2ConnectionHandler: ChannelDuplexHandler, TimedHandler {
    typealias InboundIn = HTTP2Frame
    typealias OutboundIn = Never
    typealias OutboundOut = HTTP2Frame

    private enum State {
        case open
        /// The connection is about to end. Streams that are already in transit and arrive shortly are still answered.
        case ending(since: NIODeadline)
        /// No more streams are accepted. The connection closes once the open ones have been answered.
        case draining(since: NIODeadline)
    }

    private var state = State.open
    private var openStreams = 0
    private var lastStream = HTTP2StreamID.rootStream
    /// The end of the last stream or, if there was none, the start of the connection.
    private var idleSince: NIODeadline
    /// The time at which the client stopped reading its responses; nil if none are unread.
    private var unsentSince: NIODeadline?
    private var isReadHeld = false
    /// The context of the handler; nil once the handler is removed.
    private var context: ChannelHandlerContext?
    private var streams: [ObjectIdentifier: any TimedHandler] = [:]

    init(eventLoop: any EventLoop) {
        idleSince = eventLoop.now
    }

    func handlerAdded(context: ChannelHandlerContext) { self.context = context }

    func handlerRemoved(context: ChannelHandlerContext) { self.context = nil }

    // MARK: Streams

    func streamCreated(_ id: HTTP2StreamID) {
        openStreams += 1
        lastStream = max(lastStream, id)
    }

    func streamClosed() {
        openStreams -= 1
        guard let context else { return }
        idleSince = context.eventLoop.now
        if case .draining = state, openStreams == 0 { close(context) }
    }

    /// Starts checking the time limits of a stream, until ``unwatch(_:)``.
    func watch(_ stream: any TimedHandler) { streams[ObjectIdentifier(stream)] = stream }

    func unwatch(_ stream: any TimedHandler) { streams[ObjectIdentifier(stream)] = nil }

    // MARK: Back pressure

    /// Pauses reading while the client leaves its responses unread.
    func read(context: ChannelHandlerContext) {
        isReadHeld = !context.channel.isWritable
        if !isReadHeld { context.read() }
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        if isReadHeld, context.channel.isWritable {
            isReadHeld = false
            context.read()
        }
        context.fireChannelWritabilityChanged()
    }

    // MARK: End

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        switch event {
        case is ChannelShouldQuiesceEvent: end(context)
        case ChannelEvent.inputClosed: drain(context, tellsClient: false)
        default: break
        }
        context.fireUserInboundEventTriggered(event)
    }

    /// Ends the connection after an error that NIO has already reported to the client. The error may concern only one
    /// stream, so the others are still answered.
    func errorCaught(context: ChannelHandlerContext, error: any Error) { end(context) }

    /// Ends the connection once the in-flight streams have been answered.
    func end(_ context: ChannelHandlerContext) {
        if case .open = state { state = .ending(since: context.eventLoop.now) }
    }

    /// Closes the connection once the open streams have been answered. The client is told which stream is the last one
    /// (RFC 9113 section 6.8). NIO refuses later streams, so the client knows that it can retry those requests
    /// elsewhere.
    /// - Parameter tellsClient: false if the client has closed its half, and so cannot open more streams.
    private func drain(_ context: ChannelHandlerContext, tellsClient: Bool) {
        let since =
            switch state {
            case .open: context.eventLoop.now
            case .ending(let since), .draining(let since): since
            }
        state = .draining(since: since)
        if openStreams == 0 { close(context) } else if tellsClient { sendGoAway(context) }
    }

    /// Closes the connection after sending everything written so far. A stream closes when its response is written,
    /// which may be before the response is sent.
    private func close(_ context: ChannelHandlerContext) {
        let ours = NIOLoopBound((handler: self, context: context), eventLoop: context.eventLoop)
        context.eventLoop.execute {
            let (handler, context) = ours.value
            guard handler.context != nil else { return }
            let sent = context.eventLoop.makePromise(of: Void.self)
            sent.futureResult.assumeIsolated().whenComplete { _ in context.close(promise: nil) }
            handler.sendGoAway(context, sent)
        }
    }

    private func sendGoAway(_ context: ChannelHandlerContext, _ sent: EventLoopPromise<Void>? = nil) {
        let payload = HTTP2Frame.FramePayload.goAway(
            lastStreamID: lastStream, errorCode: .noError, opaqueData: nil)
        context.writeAndFlush(wrapOutboundOut(HTTP2Frame(streamID: .rootStream, payload: payload)), promise: sent)
    }

    // MARK: Time

    func checkTime(_ now: NIODeadline) {
        for stream in streams.values { stream.checkTime(now) }
        guard let context else { return }
        unsentSince = context.channel.hasUnsentBytes ? unsentSince ?? now : nil
        if let unsentSince, now - unsentSince > TimeLimit.reading { return context.close(promise: nil) }
        switch state {
        case .open:
            // The limit is shorter than for HTTP/1.1. The client receives GOAWAY before the connection closes, so no
            // request is lost.
            if openStreams == 0, now - idleSince > TimeLimit.request { end(context) }
        case .ending(let since):
            if now - since >= TimeLimit.stopGrace { drain(context, tellsClient: true) }
        case .draining(let since):
            if now - since >= TimeLimit.stopping { context.close(promise: nil) }
        }
    }
}

/// A stream delegate that tells the connection's handler when streams begin and end.
struct HTTP2StreamObserver: NIOHTTP2StreamDelegate {
    private let handler: NIOLoopBound<HTTP2ConnectionHandler>

    init(_ handler: HTTP2ConnectionHandler, eventLoop: any EventLoop) {
        self.handler = NIOLoopBound(handler, eventLoop: eventLoop)
    }

    func streamCreated(_ id: HTTP2StreamID, channel: any Channel) { handler.value.streamCreated(id) }

    func streamClosed(_ id: HTTP2StreamID, channel: any Channel) { handler.value.streamClosed() }
}
