import NIOCore

/// One request and its response.
///
/// An exchange keeps the place of its request among the requests of its connection. A response can neither overtake
/// another nor be paired with the wrong request, and each request is answered exactly once.
final class Exchange {
    enum Message {
        case response(HTTPResponse)
        /// 100 Continue: the client may send the body of the next request.
        case `continue`
    }

    private enum State {
        /// The request waits for the current batch.
        case received(HTTPRequest)
        /// The response is being made.
        case answering
        /// The message waits until those before it have been written.
        case ready(Message)
        case written
    }

    let owner: any ExchangeOwner
    /// False for HEAD: the response states only the length of its body.
    let hasBody: Bool
    /// Whether the connection ends with this response.
    let isLast: Bool
    private var state: State

    init(_ request: HTTPRequest, owner: any ExchangeOwner, isLast: Bool = false) {
        self.owner = owner
        self.isLast = isLast
        hasBody = request.method != "HEAD"
        state = .received(request)
    }

    /// Creates an exchange for a message that is already complete.
    init(_ message: Message, owner: any ExchangeOwner, hasBody: Bool = true, isLast: Bool = false) {
        self.owner = owner
        self.hasBody = hasBody
        self.isLast = isLast
        state = .ready(message)
    }

    /// Takes the request to answer it.
    /// - Returns: nil if there is none, or if the connection is gone: nothing is signed for a client that has left.
    func takeRequest() -> HTTPRequest? {
        guard owner.isOpen, case .received(let request) = state else { return nil }
        state = .answering
        return request
    }

    /// Provides the response. Only the first one counts.
    func complete(with response: HTTPResponse) {
        guard case .answering = state else { return }
        state = .ready(.response(response))
    }

    /// Takes the message to write it; nil while it is not ready.
    func takeMessage() -> Message? {
        guard case .ready(let message) = state else { return nil }
        state = .written
        return message
    }
}

/// An HTTP/1.1 connection or an HTTP/2 stream with its exchanges. It belongs to one event loop.
protocol ExchangeOwner: AnyObject {
    /// Whether a response can still be sent.
    var isOpen: Bool { get }

    /// Writes the messages that are ready, up to the first exchange that is not.
    func writeMessages()

    /// Sends what has been written.
    func flushMessages()
}
