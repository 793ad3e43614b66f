package import OfferTelemetry

/// The metrics of the server's connections.
package struct ConnectionMetrics: Sendable {
    let open: Gauge
    let evicted: Counter
    let failedHandshakes: Counter

    package init(open: Gauge, evicted: Counter, failedHandshakes: Counter) {
        self.open = open
        self.evicted = evicted
        self.failedHandshakes = failedHandshakes
    }

    /// Metrics that are never exported.
    package static var unregistered: ConnectionMetrics {
        ConnectionMetrics(open: Gauge(), evicted: Counter(), failedHandshakes: Counter())
    }
}
