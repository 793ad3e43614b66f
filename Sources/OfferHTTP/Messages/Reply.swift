package import OfferCore

/// How an endpoint answers a request: at once, after a commit, or later.
package enum Reply: Sendable {
    /// The response is complete and leaves with the current batch.
    case now(HTTPResponse)
    /// The response leaves when `commit` is durable.
    /// - `response`: called once on the event loop with the outcome. With `false` (the write failed or took too long) it
    ///   must not reveal anything that rests on the commit.
    case after(Commit, response: @Sendable (_ isDurable: Bool) -> HTTPResponse)
    /// An asynchronous function makes the response. Nothing on the event loop waits for it but later responses of the same
    /// connection.
    case later(@Sendable () async -> HTTPResponse)
}

/// Answers requests. It is called on the event loop of the request's connection and must not block it.
package protocol Responder: Sendable {
    /// - Parameter isLate: whether the request has waited so long that answering it in full would only delay others.
    func reply(to request: HTTPRequest, isLate: Bool) -> Reply

    /// The response to a request that the server refuses by itself.
    /// - Parameter context: as much of it as could be read.
    func response(to fault: RequestFault, context: RequestContext) -> HTTPResponse
}

/// Why the server itself refuses a request before any endpoint sees it.
package enum RequestFault: Error, Hashable, Sendable {
    /// Not well-formed HTTP, or a head that is too large.
    case malformed
    /// An `Authorization` header larger than any valid one.
    case oversizedCredentials
    case bodyTooLarge
    /// The request did not arrive completely in time.
    case timedOut
    /// The client opens HTTP/2 streams without taking their responses.
    case unreadResponses
}
