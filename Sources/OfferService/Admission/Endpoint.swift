import OfferCore
import OfferHTTP

/// One row of the endpoint table: a path, the methods it accepts, whom it serves, and the function that answers.
struct Endpoint: Sendable {
    /// What a handler of the immediate lane returns: a response, and the entries that must be durable before it leaves.
    struct Answer {
        let response: HTTPResponse
        var commit: Commit?

        init(_ response: HTTPResponse, after commit: Commit? = nil) {
            self.response = response
            self.commit = commit
        }
    }

    /// The lane a request is answered on.
    enum Handler: Sendable {
        /// Answers at once on the event loop; must not block or compute for long.
        case now(@Sendable (HTTPRequest, Admission) throws(Problem) -> Answer)
        /// Answers in an asynchronous function, so offers never wait for it. The function itself waits for what must be
        /// durable.
        /// - `limit`: the number of requests that may run or wait; further ones get 503.
        case later(limit: LaneLimit, @Sendable (HTTPRequest, Admission) async throws(Problem) -> HTTPResponse)
    }

    let path: String
    /// In alphabetical order. HEAD accompanies GET unless the endpoint signs, which is not safe (RFC 9110 section 9.2.1).
    let methods: [String]
    let access: Access
    /// Whether requests that waited too long are refused instead of answered.
    let shedsLoad: Bool
    let handler: Handler

    /// An endpoint that signs or computes something: load is shed when there is too much of it.
    static func work(_ methods: [String], _ path: String, scope: Caller.Scope, _ handler: Handler) -> Endpoint {
        Endpoint(path: path, methods: methods, access: .scope(scope), shedsLoad: true, handler: handler)
    }

    /// An endpoint that shows something. It is cheap, and needed most when there is too much load.
    static func view(
        _ path: String, for access: Access,
        _ handle: @escaping @Sendable (HTTPRequest, Admission) throws(Problem) -> Answer
    ) -> Endpoint {
        Endpoint(path: path, methods: ["GET", "HEAD"], access: access, shedsLoad: false, handler: .now(handle))
    }
}
