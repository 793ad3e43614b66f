import OfferCore
import OfferHTTP

/// One row of the endpoint table: a path, the methods it accepts, its access rule, and the function that answers.
struct Endpoint: Sendable {
    /// The result of a handler on the lane `now`: a response, and the entries that must be durable before it leaves.
    struct Answer {
        let response: HTTPResponse
        var commit: Commit?

        init(_ response: HTTPResponse, after commit: Commit? = nil) {
            self.response = response
            self.commit = commit
        }
    }

    /// The function that answers requests, and its lane.
    enum Handler: Sendable {
        /// Answers at once on the event loop; must not block or compute for long.
        case now(@Sendable (HTTPRequest, Admission) throws(Problem) -> Answer)
        /// Answers in an asynchronous function, so offers never wait for it. The function itself waits until its entries are
        /// durable.
        /// - `limit`: the number of requests that may run or wait; further ones get 503.
        case later(limit: LaneLimit, @Sendable (HTTPRequest, Admission) async throws(Problem) -> HTTPResponse)
    }

    let path: String
    /// In alphabetical order. HEAD accompanies GET unless the endpoint signs, because signing is not safe (RFC 9110
    /// section 9.2.1).
    let methods: [String]
    let access: Access
    /// Whether requests that have waited too long are refused instead of answered.
    let shedsLoad: Bool
    let handler: Handler

    /// Creates an endpoint that signs or computes something. It sheds load when there is too much.
    static func work(_ methods: [String], _ path: String, scope: Caller.Scope, _ handler: Handler) -> Endpoint {
        Endpoint(path: path, methods: methods, access: .scope(scope), shedsLoad: true, handler: handler)
    }

    /// Creates an endpoint that shows something. It is cheap, and needed most under overload.
    static func view(
        _ path: String, for access: Access,
        _ handle: @escaping @Sendable (HTTPRequest, Admission) throws(Problem) -> Answer
    ) -> Endpoint {
        Endpoint(path: path, methods: ["GET", "HEAD"], access: access, shedsLoad: false, handler: .now(handle))
    }
}
