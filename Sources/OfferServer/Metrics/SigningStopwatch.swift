import CoreMetrics
import NIOCore
import OfferCore

/// Takes the time of the parts of one signature.
struct SigningStopwatch: ~Copyable {
    private let metrics: ServiceMetrics
    private var began = NIODeadline.now()

    init(_ metrics: ServiceMetrics) {
        self.metrics = metrics
    }

    mutating func note(_ step: SigningStep) {
        let now = NIODeadline.now()
        let duration = (now - began).nanoseconds
        began = now
        switch step {
        case .signed: metrics.signing.recordNanoseconds(duration)
        case .verified: metrics.verifying.recordNanoseconds(duration)
        }
    }
}
