package import Logging
import NIOConcurrencyHelpers
import NIOCore

/// A warning for what may happen thousands of times a second: it is logged now and then while it does.
package final class OccasionalWarning: Sendable {
    private static let interval: TimeAmount = .seconds(10)

    private let message: Logger.Message
    private let log: Logger
    private let next = NIOLockedValueBox(NIODeadline.uptimeNanoseconds(0))

    package init(_ message: Logger.Message, log: Logger) {
        self.message = message
        self.log = log
    }

    package func warn(_ metadata: @autoclosure () -> Logger.Metadata) {
        let now = NIODeadline.now()
        let isDue = next.withLockedValue { next in
            guard next <= now else { return false }
            next = now + Self.interval
            return true
        }
        if isDue { log.warning(message, metadata: metadata()) }
    }
}
