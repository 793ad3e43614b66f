import OfferConfiguration
package import OfferCore

/// The rule for dates of signing. What is signed in the future would count as newer than all that follows, so the clock of
/// this machine must be wrong.
package enum SigningTime {
    /// In milliseconds.
    private static let maximumClockError: Int64 = 5 * 60 * 1000

    package static func isPlausible(_ date: Timestamp, at now: Timestamp) -> Bool {
        date.milliseconds <= now.milliseconds + maximumClockError
    }
}
