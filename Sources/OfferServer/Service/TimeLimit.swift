import NIOCore

/// How long a connection may take for what, on the monotonic clock. HTTP/1.1 looks at the time in intervals, so there each
/// may take one more.
enum TimeLimit {
    static let checkInterval: TimeAmount = .seconds(5)
    /// For the handshake of TLS.
    static let handshake: TimeAmount = .seconds(10)
    /// For the first request to begin, and for any from its first byte to its last.
    static let request: TimeAmount = .seconds(30)
    /// Between two requests: longer than the 60 s that proxies keep an idle connection for, so that it is they who close it.
    static let idle: TimeAmount = .seconds(75)
    /// For a request to wait while others are answered. What has waited longer is refused, which takes a tenth of the time.
    static let wait: TimeAmount = .milliseconds(500)
    /// For the line of an answer to be written into the audit trail. After that it is not sent any more.
    static let record: TimeAmount = .seconds(2)
    /// For the client to take an answer, before its connection is cut off.
    static let answer: TimeAmount = .seconds(20)
    /// For the connections to be accepted that are waiting when the service stops.
    static let accepting: TimeAmount = .milliseconds(100)
    /// For a request to begin to arrive when the service stops: it may be on its way.
    static let beginning: TimeAmount = .seconds(1)
    /// For everything else then: the rest of the request, and the client to take the answer.
    static let lastRequest: TimeAmount = .seconds(10)
    /// For the client to end its half after the last answer has been sent.
    static let lingering: TimeAmount = .seconds(2)
}
