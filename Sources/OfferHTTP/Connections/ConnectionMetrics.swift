package import OfferTelemetry

/// The metrics of the server's connections.
package struct ConnectionMetrics: Sendable {
    let open: Gauge
    let evicted: Counter
    /// Connections that were closed because memory was short.
    let relieved: Counter
    /// Connections that were refused because their address had too many.
    let refused: Counter
    let failedHandshakes: Counter

    package init(open: Gauge, evicted: Counter, relieved: Counter, refused: Counter, failedHandshakes: Counter) {
        self.open = open
        self.evicted = evicted
        self.relieved = relieved
        self.refused = refused
        self.failedHandshakes = failedHandshakes
    }

    /// Metrics that are never exported.
    package static var unregistered: ConnectionMetrics {
        ConnectionMetrics(
            open: Gauge(), evicted: Counter(), relieved: Counter(), refused: Counter(), failedHandshakes: Counter())
    }
}
