import OfferConfiguration
package import OfferCore
package import SubscriberStore

/// The schedule for sending a notification again to a receiver that did not accept it.
package enum ForwardSchedule {
    /// The delay after the first failed attempt, in milliseconds.
    private static let firstDelay: Int64 = 5000
    /// The maximum delay, in milliseconds: one hour.
    private static let longestDelay: Int64 = 3_600_000
    /// The time for which a notification is sent again, in milliseconds: three days.
    private static let lifetime: Int64 = 259_200_000

    /// Returns the time limit for giving up: notifications received before this time are not sent again.
    package static func lastReception(at now: Timestamp) -> Timestamp {
        Timestamp(milliseconds: now.milliseconds - lifetime)
    }

    /// Returns the outcome of a failed attempt. The delay doubles from 5 seconds up to an hour. An attempt that fails
    /// three days after reception is the last.
    /// - Parameters:
    ///   - failures: the number of failed attempts before this one.
    ///   - share: a random number from 0 to 1. It shortens the delay by up to a tenth, so that notifications that
    ///     failed together are not sent again together.
    package static func outcome(
        afterFailures failures: Int, receivedAt: Timestamp, share: Double, at now: Timestamp
    ) -> ForwardOutcome {
        guard Double(now.milliseconds) - Double(receivedAt.milliseconds) < Double(lifetime) else {
            return .dead(at: now)
        }
        let delay = min(longestDelay, firstDelay << min(Int64(failures), 20))
        return .failed(
            nextAttempt: Timestamp(milliseconds: now.milliseconds + delay - Int64(Double(delay) / 10 * share)))
    }
}
