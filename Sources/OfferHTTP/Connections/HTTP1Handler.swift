package import NIOCore
import NIOSSL
import OfferCore

/// The handler of one HTTP/1.1 connection (RFC 9112), which serves its requests in order.
package final class HTTP1Handler: ChannelDuplexHandler, RemovableChannelHandler, ExchangeOwner, TimedHandler {
    package typealias InboundIn = ByteBuffer
    package typealias OutboundIn = Never
    package typealias OutboundOut = ByteBuffer

    private enum State {
        /// Requests are read and answered.
        case open
        /// The service is stopping. The response to the next request is the last one.
        case stopping(since: NIODeadline)
        /// No more requests are read. Our half closes once all pending responses have been written.
        case finishing
        /// Our half is closing, but the client has not read everything yet.
        case closing
        /// Our half is closed. The client has a short time to close its half.
        case lingering
    }

    /// The number of pending exchanges at which reading pauses. It is lower for a client that has not authenticated.
    private var maximumExchanges: Int { connection.standing.isAuthenticated ? 64 : 4 }
    /// The number of unsent bytes above which writing pauses. The channel becomes writable again once fewer bytes are
    /// unsent, and reports this.
    private static let maximumUnsentBytes = 64 * 1024

    private let responder: any Responder
    private let date: HTTPDate
    private let batch: ResponseBatch
    private let connection: OpenConnection
    private var reader: RequestReader
    private var state = State.open
    /// The start of the current phase: reading a request, waiting for the next one, or closing.
    private var phaseBegan: NIODeadline
    /// The time at which the connection is closed unconditionally; nil unless the service is stopping.
    private var closeDeadline: NIODeadline?
    /// The exchanges whose messages have not been written yet, in request order.
    private var exchanges = CircularBuffer<Exchange>()
    /// True if the client has closed its half.
    private var isInputClosed = false
    /// True if a read that the channel requested is being held back.
    private var isReadHeld = false
    /// True if requests that have arrived may be waiting to be read.
    private var isPaused = false
    private var needsFlush = false
    /// The size of the requests in ``exchanges``, in bytes.
    private var pendingBytes = 0
    /// The bytes written since the last flush.
    private var unflushedBytes = 0
    /// The context of the handler; nil once the handler is removed or the connection is gone.
    private var context: ChannelHandlerContext?

    /// - Parameter batch: the batch of the connection's event loop.
    package init(responder: any Responder, date: HTTPDate, batch: ResponseBatch, connection: OpenConnection) {
        self.responder = responder
        reader = RequestReader(maximumBodySize: responder.maximumBodySize)
        self.date = date
        self.batch = batch
        self.connection = connection
        phaseBegan = connection.lastRequest
    }

    package func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
        connection.handler = self
    }

    package func handlerRemoved(context: ChannelHandlerContext) { leave() }

    package func channelInactive(context: ChannelHandlerContext) {
        leave()
        context.fireChannelInactive()
    }

    private func leave() {
        context = nil
        for exchange in exchanges { exchange.abandon() }
        exchanges.removeAll()
        connection.release()
    }

    // MARK: Requests

    private var readsRequests: Bool {
        switch state {
        case .open, .stopping: true
        case .finishing, .closing, .lingering: false
        }
    }

    package func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard readsRequests else { return }
        let hadBegun = reader.hasBegun
        reader.add(unwrapInboundIn(data))
        readRequests(hadBegun: hadBegun, context: context)
        reader.compact()
        noteHeld()
    }

    private func noteHeld() { connection.requestBytes = reader.heldBytes + pendingBytes }

    /// Reads requests, but only as fast as the client reads responses.
    /// - Parameter hadBegun: whether part of the first request had arrived earlier.
    private func readRequests(hadBegun: Bool, context: ChannelHandlerContext) {
        var hadBegun = hadBegun
        do {
            while readsRequests, mayReadOn(context), let event = try reader.next() {
                switch event {
                case .expectsContinue:
                    add(Exchange(.continue, owner: self))
                case .request(let head, let body):
                    add(head, body: body, context: context)
                    hadBegun = false
                }
            }
        } catch {
            return refuse(error, context: context)
        }
        isPaused = readsRequests && !mayReadOn(context)
        if reader.hasBegun, !hadBegun { phaseBegan = context.eventLoop.now }
    }

    private func add(_ head: RequestHead, body: [UInt8], context: ChannelHandlerContext) {
        let now = context.eventLoop.now
        phaseBegan = now
        connection.noteRequest(at: now)
        let isLast = if case .stopping = state { true } else { head.isLast }
        // Set this first: adding the exchange may send the response immediately and continue reading.
        if isLast { state = .finishing }
        add(Exchange(HTTPRequest(head, from: connection, body: body), owner: self, isLast: isLast))
    }

    private func add(_ exchange: Exchange) {
        exchanges.append(exchange)
        pendingBytes += exchange.size
        batch.add(exchange, from: connection)
    }

    /// Sends an error response to a request that cannot be read, then ends the connection.
    private func refuse(_ fault: RequestFault, context: ChannelHandlerContext) {
        let response = responder.response(to: fault, context: RequestContext(reader.head))
        state = .finishing
        phaseBegan = context.eventLoop.now
        add(Exchange(.response(response), owner: self, hasBody: !reader.isHead, isLast: true))
    }

    package func errorCaught(context: ChannelHandlerContext, error: any Error) {
        // The client closed TLS without a close_notify alert. The input-closed event comes next, and requests that have
        // arrived are still answered.
        if error as? NIOSSLError == .uncleanShutdown { return }
        if readsRequests { context.close(promise: nil) }
    }

    // MARK: Responses

    var isOpen: Bool { context != nil }

    func writeMessages() {
        guard let context else { return }
        while hasRoom, let first = exchanges.first, let message = first.takeMessage() {
            exchanges.removeFirst()
            pendingBytes -= first.size
            var buffer = context.channel.allocator.buffer(capacity: 512)
            switch message {
            case .continue:
                buffer.writeStaticString("HTTP/1.1 100 Continue\r\n\r\n")
            case .response(let response):
                buffer.write(response, withBody: first.hasBody, date: date.now, isLast: first.isLast)
            }
            write(buffer, context)
            if case .response(let response) = message, case .shared(let body) = response.content, first.hasBody {
                write(body, context)
            }
            needsFlush = true
        }
        if exchanges.isEmpty, case .finishing = state { closeOutput(context) }
    }

    private func write(_ buffer: ByteBuffer, _ context: ChannelHandlerContext) {
        unflushedBytes += buffer.readableBytes
        context.write(wrapOutboundOut(buffer), promise: nil)
    }

    /// True if the client reads fast enough for more responses to be written.
    private var hasRoom: Bool { connection.unsentBytes + unflushedBytes <= Self.maximumUnsentBytes }

    func flushMessages() {
        guard needsFlush, let context else { return }
        needsFlush = false
        context.flush()
        noteSent(context)
        // Reading may have paused because too many exchanges were pending.
        if isPaused || isReadHeld || isInputClosed { readOn(context) }
    }

    // MARK: Back pressure

    private func mayReadOn(_ context: ChannelHandlerContext) -> Bool {
        context.channel.isWritable && exchanges.count < maximumExchanges
            && pendingBytes < OpenConnection.maximumRequestBytes
    }

    package func read(context: ChannelHandlerContext) {
        isReadHeld = !mayReadOn(context)
        if !isReadHeld { context.read() }
    }

    package func channelWritabilityChanged(context: ChannelHandlerContext) {
        noteSent(context)
        readOn(context)
        context.fireChannelWritabilityChanged()
    }

    /// Notes how many bytes the client has not read yet, and writes the responses that were waiting for the client to
    /// read.
    private func noteSent(_ context: ChannelHandlerContext) {
        let wasFull = !hasRoom
        unflushedBytes = 0
        connection.unsentBytes = context.channel.unsentBytes
        noteHeld()
        guard wasFull, hasRoom, !exchanges.isEmpty else { return }
        phaseBegan = context.eventLoop.now
        writeMessages()
        flushMessages()
    }

    private func readOn(_ context: ChannelHandlerContext) {
        guard mayReadOn(context) else { return }
        readRequests(hadBegun: reader.hasBegun, context: context)
        if isInputClosed { endInput(context) }
        if isReadHeld { read(context: context) }
    }

    // MARK: End

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

    /// Ends the connection after the client has closed its half. Requests that have arrived are answered first.
    private func endInput(_ context: ChannelHandlerContext) {
        switch state {
        case .lingering: context.close(promise: nil)
        case .finishing, .closing: break
        case .open, .stopping:
            guard mayReadOn(context) else { return }
            if reader.hasBegun { refuse(.malformed, context: context) } else { finish(context) }
        }
    }

    /// Starts ending the connection because the service is stopping. Requests that have begun, are in transit or are
    /// already in the socket are still answered, but no client can delay shutdown for long.
    private func stop(_ context: ChannelHandlerContext) {
        let now = context.eventLoop.now
        closeDeadline = now + TimeLimit.stopping
        if case .open = state { state = .stopping(since: now) }
    }

    /// Stops reading requests, and closes our half once all pending responses have been written.
    private func finish(_ context: ChannelHandlerContext) {
        state = .finishing
        phaseBegan = context.eventLoop.now
        if exchanges.isEmpty { closeOutput(context) }
    }

    /// Closes only our half and keeps reading briefly. Closing both halves with unread bytes would reset the
    /// connection, and a client that is still sending would lose the response.
    private func closeOutput(_ context: ChannelHandlerContext) {
        state = .closing
        phaseBegan = context.eventLoop.now
        let sent = context.eventLoop.makePromise(of: Void.self)
        if isInputClosed {
            // The client has closed its half. Closing ours too would discard anything that the client has not read yet.
            context.writeAndFlush(wrapOutboundOut(ByteBuffer()), promise: sent)
        } else {
            context.flush()
            context.close(mode: .output, promise: sent)
        }
        sent.futureResult.assumeIsolated().whenComplete { _ in
            if self.isInputClosed { return context.close(promise: nil) }
            self.state = .lingering
            self.phaseBegan = context.eventLoop.now
        }
    }

    // MARK: Time

    func checkTime(_ now: NIODeadline) {
        guard let context else { return }
        if let closeDeadline, now >= closeDeadline { return context.close(promise: nil) }
        let elapsed = now - phaseBegan
        switch state {
        case .lingering:
            if elapsed > TimeLimit.lingering { context.close(promise: nil) }
        case .closing:
            if elapsed > TimeLimit.reading { context.close(promise: nil) }
        case .finishing where !hasRoom, .open where !hasRoom, .stopping where !hasRoom:
            // The client does not read.
            if elapsed > TimeLimit.reading { context.close(promise: nil) }
        case .finishing: break  // This waits only for our own responses, which have their own time limits.
        case .stopping(let since) where !reader.hasBegun && now - since > TimeLimit.stopGrace:
            finish(context)
        case .open, .stopping:
            if !exchanges.isEmpty {
                // The client's time starts once its responses have been written.
                phaseBegan = now
            } else if context.channel.hasUnsentBytes {
                if elapsed > TimeLimit.reading { context.close(promise: nil) }
            } else if reader.hasBegun {
                if elapsed > TimeLimit.request { refuse(.timedOut, context: context) }
            } else if elapsed > (connection.hasRequested ? TimeLimit.idle : TimeLimit.request) {
                finish(context)
            }
        }
    }
}

extension HTTPRequest {
    fileprivate init(_ head: RequestHead, from connection: OpenConnection, body: [UInt8]) {
        self.init(
            method: head.method, target: head.target, host: head.host, contentType: head.contentType,
            contentEncoding: head.contentEncoding, authorization: head.authorization, peer: connection.peer,
            forwardedFor: head.forwardedFor, idempotencyKey: head.idempotencyKey,
            browser: BrowserHeaders(
                ifAny: head.cookies, fetchSite: head.fetchSite, origin: head.origin, ifNoneMatch: head.ifNoneMatch),
            context: RequestContext(head),
            standing: connection.standing, body: body)
    }
}

extension RequestContext {
    /// - Parameter head: the head of the request; nil if it could not be read.
    fileprivate init(_ head: RequestHead?) {
        self.init(requestID: head?.requestID, traceparent: head?.traceparent)
    }
}
