import NIOCore

/// One request and its response.
///
/// An exchange holds its request's place in the order of its connection. A response can neither overtake another nor be
/// paired with the wrong request, and no request is answered twice.
final class Exchange {
    enum Message {
        case response(HTTPResponse)
        /// 100 Continue: the client may send the body of the next request.
        case `continue`
    }

    private enum State {
        /// The request is waiting for the current batch.
        case received(HTTPRequest)
        /// The response is being produced.
        case answering
        /// The message is waiting for earlier messages to be written.
        case ready(Message)
        case written
    }

    let owner: any ExchangeOwner
    /// False for HEAD: the response states the length of its body but omits the body.
    let hasBody: Bool
    /// True if the connection closes after this response.
    let isLast: Bool
    /// The approximate size of the request in memory, in bytes.
    let size: Int
    private var state: State

    init(_ request: HTTPRequest, owner: any ExchangeOwner, isLast: Bool = false) {
        self.owner = owner
        self.isLast = isLast
        hasBody = request.method != "HEAD"
        size = request.size
        state = .received(request)
    }

    /// Creates an exchange for a message that is already complete.
    init(_ message: Message, owner: any ExchangeOwner, hasBody: Bool = true, isLast: Bool = false) {
        self.owner = owner
        self.hasBody = hasBody
        size = 0
        self.isLast = isLast
        state = .ready(message)
    }

    /// Takes the request in order to answer it.
    /// - Returns: nil if the request has already been taken, or if the connection is gone. Nothing is signed for a
    ///   client that has disconnected.
    func takeRequest() -> HTTPRequest? {
        guard owner.isOpen, case .received(let request) = state else { return nil }
        state = .answering
        return request
    }

    /// True if the client is still waiting for the message.
    var isAwaited: Bool { if case .written = state { false } else { owner.isOpen } }

    /// Drops the request or the message of a connection that is gone.
    func abandon() { state = .written }

    /// Sets the response. Calls after the first are ignored.
    func complete(with response: HTTPResponse) {
        guard case .answering = state else { return }
        state = .ready(.response(response))
    }

    /// Takes the message in order to write it; nil while it is not ready.
    func takeMessage() -> Message? {
        guard case .ready(let message) = state else { return nil }
        state = .written
        return message
    }
}

/// An HTTP/1.1 connection or HTTP/2 stream that owns exchanges. It belongs to one event loop.
protocol ExchangeOwner: AnyObject {
    /// True if a response can still be sent.
    var isOpen: Bool { get }

    /// Writes the ready messages in order, up to the first exchange that is not ready.
    func writeMessages()

    /// Flushes the messages written so far.
    func flushMessages()
}
