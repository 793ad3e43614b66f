import NIOCore

/// Time limits of a connection, on the monotonic clock. They are checked periodically, so each may be exceeded by one
/// interval.
enum TimeLimit {
    static let checkInterval: TimeAmount = .milliseconds(500)
    /// The limit for the TLS handshake.
    static let handshake: TimeAmount = .seconds(10)
    /// The limit for the first request to begin, and for any request from its first byte to its last.
    static let request: TimeAmount = .seconds(30)
    /// The limit between two requests. Most proxies keep idle connections open for 60 s, so the proxy closes first.
    static let idle: TimeAmount = .seconds(75)
    /// The limit for answering the requests that an event loop has read together, and for a request of an
    /// unauthenticated client to wait. After that, they are refused, at a tenth of the cost of answering them.
    static let wait: TimeAmount = .milliseconds(500)
    /// The limit for a response's commit to be written. After that, the response is withheld.
    static let commit: TimeAmount = .seconds(2)
    /// The limit for a response on the `later` lane. After that, the request is refused.
    static let later: TimeAmount = .seconds(30)
    /// The limit for the client to read a response before its connection is closed.
    static let reading: TimeAmount = .seconds(20)
    /// The limit for accepting waiting connections when the service stops.
    static let accepting: TimeAmount = .milliseconds(100)
    /// The limit for a request in transit to arrive when the service stops.
    static let stopGrace: TimeAmount = .seconds(1)
    /// The limit for everything else when the service stops: receiving the rest of a request, producing its response,
    /// and waiting for the client to read it.
    static let stopping: TimeAmount = .seconds(10)
    /// The limit for the client to close its half after the last response.
    static let lingering: TimeAmount = .seconds(2)
}
