import Logging
import NIOConcurrencyHelpers
import NIOCore

/// Says in the log that the service is overloaded, now and then while it is.
final class OverloadWarning: Sendable {
    private static let interval: TimeAmount = .seconds(10)

    private let next = NIOLockedValueBox(NIODeadline.uptimeNanoseconds(0))

    func warn(_ log: Logger) {
        let now = NIODeadline.now()
        let isDue = next.withLockedValue { next in
            guard next <= now else { return false }
            next = now + Self.interval
            return true
        }
        guard isDue else { return }
        log.warning(
            "there is more to do than can be done in time, and some requests are refused with 503",
            metadata: ["hint": "give the service more cores, or start another one beside it"])
    }
}
