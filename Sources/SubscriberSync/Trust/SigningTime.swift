import OfferConfiguration
package import OfferCore

/// The rule for signing dates. Data signed in the future is refused, because it would count as newer than all later
/// data. In that case, this machine's clock must be wrong.
package enum SigningTime {
    /// The tolerance for clock errors, in milliseconds.
    private static let maximumClockError: Int64 = 5 * 60 * 1000

    package static func isPlausible(_ date: Timestamp, at now: Timestamp) -> Bool {
        date.milliseconds <= now.milliseconds + maximumClockError
    }
}
