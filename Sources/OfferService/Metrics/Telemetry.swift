package import Logging
package import OfferTelemetry

/// The service's outputs for operators: the log, metrics and problems.
package struct Telemetry: Sendable {
    package var log: Logger
    package var metrics = ServiceMetrics()
    package var readiness = Readiness()
}
