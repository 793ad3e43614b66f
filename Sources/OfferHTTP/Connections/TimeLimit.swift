import NIOCore

/// Time limits of a connection, on the monotonic clock. They are checked at intervals, so each may take one interval longer.
enum TimeLimit {
    static let checkInterval: TimeAmount = .milliseconds(500)
    /// For the TLS handshake.
    static let handshake: TimeAmount = .seconds(10)
    /// For the first request to begin, and for any request from its first byte to its last.
    static let request: TimeAmount = .seconds(30)
    /// Between two requests: longer than the 60 s that proxies keep an idle connection open, so that the proxy closes
    /// it first.
    static let idle: TimeAmount = .seconds(75)
    /// For a request to wait behind others. One that waits longer is refused, at a tenth of the cost.
    static let wait: TimeAmount = .milliseconds(500)
    /// For a response's commit to be written. After that the response is withheld.
    static let commit: TimeAmount = .seconds(2)
    /// For a response on the lane `later` to be made. After that the request is refused.
    static let later: TimeAmount = .seconds(30)
    /// For the client to read a response before its connection is cut off.
    static let reading: TimeAmount = .seconds(20)
    /// For waiting connections to be accepted when the service stops.
    static let accepting: TimeAmount = .milliseconds(100)
    /// For a request that is on its way to begin when the service stops.
    static let stopGrace: TimeAmount = .seconds(1)
    /// For everything else when the service stops: the rest of a request, its response, the client reading it.
    static let stopping: TimeAmount = .seconds(10)
    /// For the client to close its half after the last response.
    static let lingering: TimeAmount = .seconds(2)
}
