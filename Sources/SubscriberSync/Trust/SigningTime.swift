import OfferConfiguration
package import OfferCore

/// The rule for signing dates. Data signed in the future would count as newer than all later data. This machine's clock
/// must then be wrong.
package enum SigningTime {
    /// In milliseconds.
    private static let maximumClockError: Int64 = 5 * 60 * 1000

    package static func isPlausible(_ date: Timestamp, at now: Timestamp) -> Bool {
        date.milliseconds <= now.milliseconds + maximumClockError
    }
}
