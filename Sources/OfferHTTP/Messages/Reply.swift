package import OfferCore

/// The way an endpoint answers a request: immediately, after a commit, or later.
package enum Reply: Sendable {
    /// The response is complete and is sent with the current batch.
    case now(HTTPResponse)
    /// The response is sent once `commit` is durable.
    /// - `response`: called once on the event loop with the outcome. If that is `false`, the write failed or took too
    ///   long, and the response must not reveal anything that depends on the commit.
    case after(Commit, response: @Sendable (_ isDurable: Bool) -> HTTPResponse)
    /// The response is produced off the event loop. Only later responses on the same connection wait for it.
    /// - `work`: returns the function that makes the response. If it takes longer than the time limit, its result is
    ///   dropped.
    /// - `executor`: the threads that `work` runs on; nil for those of Swift's own pool.
    /// - `timedOut`: makes the response if `work` takes longer than ``TimeLimit/later``.
    ///
    /// Exactly one of the two response functions is called, once, on the event loop.
    case later(
        _ work: @Sendable () async -> MakeResponse, on: (any TaskExecutor)? = nil, timedOut: MakeResponse)

    package typealias MakeResponse = @Sendable () -> HTTPResponse

    /// Returns a reply whose responses are transformed.
    package func map(_ transform: @escaping @Sendable (HTTPResponse) -> HTTPResponse) -> Reply {
        switch self {
        case .now(let response): .now(transform(response))
        case .after(let commit, let response): .after(commit) { transform(response($0)) }
        case .later(let work, let executor, let timedOut):
            .later(
                {
                    let make = await work()
                    return { transform(make()) }
                }, on: executor, timedOut: { transform(timedOut()) })
        }
    }
}

/// A type that answers requests. It is called on the event loop of the request's connection, which it must not block.
package protocol Responder: Sendable {
    func reply(to request: HTTPRequest, shedding: LoadShedding) -> Reply

    /// Returns the response to a request that the server itself refuses.
    /// - Parameter context: the part of the request's context that could be read.
    func response(to fault: RequestFault, context: RequestContext) -> HTTPResponse

    /// Returns the maximum size of the body of a request to this path, in bytes.
    func maximumBodySize(of path: String) -> Int
}

extension Responder {
    package func maximumBodySize(of path: String) -> Int { HTTPRequest.maximumBodySize }
}

/// The requests to refuse because answering them in full would only delay others.
package enum LoadShedding: Comparable, Sendable {
    case none
    /// The requests that cannot come from a caller.
    case strangers
    case all
}

/// The reason the server refuses a request before any endpoint sees it.
package enum RequestFault: Error, Hashable, Sendable {
    /// The request is not well-formed HTTP, or its head is too large.
    case malformed
    /// The `Authorization` header is larger than any valid one.
    case oversizedCredentials
    case bodyTooLarge
    /// The request did not arrive completely in time.
    case timedOut
    /// The client opens HTTP/2 streams without reading their responses.
    case unreadResponses
    /// The unanswered requests of a connection are too large in total.
    case tooManyBytes
}
