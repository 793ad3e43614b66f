package import NIOCore

/// A handler before the TLS handler. It holds back a connection's first record until the record is complete and the
/// ``HandshakeQueue`` lets the handshake begin.
package final class HandshakeGate: ChannelDuplexHandler, RemovableChannelHandler {
    package typealias InboundIn = ByteBuffer
    package typealias InboundOut = ByteBuffer
    package typealias OutboundIn = ByteBuffer

    private enum State {
        /// The first record is not complete.
        case reading
        /// The handshake waits for its turn.
        case waiting
        /// The handler is about to be removed, or the connection is gone.
        case open
    }

    private let queue: HandshakeQueue
    private let onFirstBytes: () -> Void
    private var state = State.reading
    private var held = ByteBuffer()
    private var isReadHeld = false
    /// The context of the handler; nil once the handler is removed or the connection is gone.
    private var context: ChannelHandlerContext?

    /// - Parameter onFirstBytes: called when the first bytes arrive.
    package init(_ queue: HandshakeQueue, onFirstBytes: @escaping () -> Void) {
        self.queue = queue
        self.onFirstBytes = onFirstBytes
    }

    package func handlerAdded(context: ChannelHandlerContext) { self.context = context }

    package func handlerRemoved(context: ChannelHandlerContext) { leave() }

    package func channelInactive(context: ChannelHandlerContext) {
        leave()
        context.fireChannelInactive()
    }

    private func leave() {
        context = nil
        state = .open
        held = ByteBuffer()
    }

    // MARK: First record

    package func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let bytes = unwrapInboundIn(data)
        guard state != .open else { return context.fireChannelRead(data) }
        if held.readableBytes == 0 { onFirstBytes() }
        held.writeImmutableBuffer(bytes)
        guard state == .reading, hasWholeRecord else { return }
        state = .waiting
        queue.add(self)
    }

    /// True if the first record is complete. A record begins with its type, a version and its length (RFC 8446 section
    /// 5.1). A record that is not a handshake, or is too long, is passed on immediately, and TLS refuses it.
    private var hasWholeRecord: Bool {
        guard let type = held.getInteger(at: held.readerIndex, as: UInt8.self), type == 22 else { return true }
        guard let length = held.getInteger(at: held.readerIndex + 3, as: UInt16.self) else { return false }
        return length > 16 * 1024 || held.readableBytes >= 5 + Int(length)
    }

    package func channelReadComplete(context: ChannelHandlerContext) {
        if state == .open { context.fireChannelReadComplete() }
    }

    package func read(context: ChannelHandlerContext) {
        isReadHeld = state == .waiting
        if !isReadHeld { context.read() }
    }

    package func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        // A client that has closed its half cannot complete the handshake.
        if state != .open, case ChannelEvent.inputClosed = event { return context.close(promise: nil) }
        context.fireUserInboundEventTriggered(event)
    }

    // MARK: Turn

    /// Passes on the bytes that the client has sent, and removes this handler. Called by the queue.
    /// - Returns: false if the connection is gone.
    func open() -> Bool {
        guard let context else { return false }
        state = .open
        let bytes = held
        held = ByteBuffer()
        context.fireChannelRead(wrapInboundOut(bytes))
        context.fireChannelReadComplete()
        if isReadHeld { context.read() }
        context.pipeline.syncOperations.removeHandler(context: context, promise: nil)
        return true
    }
}
