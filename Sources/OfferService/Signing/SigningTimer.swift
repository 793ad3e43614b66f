import NIOCore
import OfferCore
import OfferTelemetry

/// A timer for the steps of making one signature.
struct SigningTimer: ~Copyable {
    private let metrics: ServiceMetrics
    /// True if the key is in a token.
    private let isInToken: Bool
    private var began = NIODeadline.now()

    init(_ metrics: ServiceMetrics, isInToken: Bool) {
        self.metrics = metrics
        self.isInToken = isInToken
    }

    /// Records the time since the previous step.
    mutating func note(_ step: SigningStep) {
        let now = NIODeadline.now()
        let duration = (now - began).nanoseconds
        began = now
        switch step {
        case .signed:
            (isInToken ? metrics.token : metrics.signing).record(nanoseconds: duration)
        case .verified: metrics.verifying.record(nanoseconds: duration)
        }
    }
}
