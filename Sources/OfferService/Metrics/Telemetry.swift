package import Logging
package import OfferTelemetry

/// Where the service reports: log, metrics and problems.
package struct Telemetry: Sendable {
    package var log: Logger
    package var metrics = ServiceMetrics()
    package var readiness = Readiness()
}
