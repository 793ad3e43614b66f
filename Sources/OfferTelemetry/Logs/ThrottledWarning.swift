package import Logging
import NIOConcurrencyHelpers
import NIOCore

/// A warning about an event that may occur thousands of times a second, logged at most once every ten seconds.
package final class ThrottledWarning: Sendable {
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
