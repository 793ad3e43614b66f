import OfferCore
import OfferHTTP
import SubscriberSync

/// One row of the endpoint table: a path, the methods it accepts, its access rule, and its handler.
struct Endpoint: Sendable {
    /// The result of a `now` handler: a response, and the audit entries that must be durable before it is sent.
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
        /// Answers immediately on the event loop. It must not block or run long computations.
        case now(@Sendable (HTTPRequest, Admission) throws(Problem) -> Answer)
        /// Answers asynchronously, so offers never wait for it. The function itself must wait until its audit entries
        /// are durable.
        /// - `limit`: the maximum number of requests that run or wait. Further requests get 503.
        case later(limit: LaneLimit, @Sendable (HTTPRequest, Admission) async throws(Problem) -> HTTPResponse)
        /// Answers immediately, or decides to answer asynchronously.
        case either(limit: LaneLimit, @Sendable (HTTPRequest, Admission) throws(Problem) -> Lane)
    }

    /// The lane on which a request is answered.
    enum Lane {
        case now(Answer)
        /// The function waits until its audit entries are durable.
        /// - `limit`: replaces the endpoint's limit; nil for the endpoint's.
        /// - `readsStore`: false if the function never reads the store, so that it need not wait for the store's threads.
        case later(
            limit: LaneLimit? = nil, readsStore: Bool = true, _ work: @Sendable () async throws(Problem) -> HTTPResponse
        )
    }

    /// The path. If its last part varies, a name in braces stands for it, as in OpenAPI.
    let path: String
    /// The accepted methods in alphabetical order. HEAD is listed with GET, except for endpoints that sign, because
    /// signing is not safe (RFC 9110 section 9.2.1).
    let methods: [String]
    let access: Access
    /// The lowest level of load shedding at which the endpoint refuses requests; nil if it never sheds load.
    let shedsLoad: LoadShedding?
    let handler: Handler
    /// The maximum size of a request body, in bytes.
    var maximumBodySize = HTTPRequest.maximumBodySize
    /// True if web pages of the configured origins may read the answers: see ``WebAccess``.
    var servesWebPages = false
    /// The store whose threads run asynchronous work, which begins by reading it; nil for Swift's default pool.
    var store: CurrentStore?

    /// Creates an endpoint that signs or computes something. It sheds load when the service is overloaded.
    static func work(_ methods: [String], _ path: String, scope: Caller.Scope, _ handler: Handler) -> Endpoint {
        Endpoint(path: path, methods: methods, access: .scope(scope), shedsLoad: .strangers, handler: handler)
    }

    /// Returns a copy that accepts proofs, which are larger than other requests.
    func acceptingProofs() -> Endpoint {
        var endpoint = self
        endpoint.maximumBodySize = HTTPRequest.maximumProofBodySize
        return endpoint
    }

    /// Returns a copy that web pages of the configured origins may call.
    func servingWebPages() -> Endpoint {
        var endpoint = self
        endpoint.servesWebPages = true
        return endpoint
    }

    /// Returns a copy whose asynchronous work runs on the threads of a store.
    func reading(_ store: CurrentStore) -> Endpoint {
        var endpoint = self
        endpoint.store = store
        return endpoint
    }

    /// Creates a read-only endpoint.
    /// - Parameter shedsLoad: nil for an endpoint that is needed most during overload.
    static func view(
        _ path: String, for access: Access, shedsLoad: LoadShedding? = nil,
        _ handle: @escaping @Sendable (HTTPRequest, Admission) throws(Problem) -> Answer
    ) -> Endpoint {
        Endpoint(path: path, methods: ["GET", "HEAD"], access: access, shedsLoad: shedsLoad, handler: .now(handle))
    }
}
