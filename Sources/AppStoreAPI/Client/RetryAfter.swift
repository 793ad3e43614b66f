import OfferCore
import OfferEligibility

/// The header `Retry-After` of the App Store: a Unix time in milliseconds, not a number of seconds as in HTTP.
enum RetryAfter {
    /// The delay without the header, or with an invalid one, in milliseconds.
    private static let otherwise: Int64 = 60_000
    /// The maximum delay in milliseconds: an hour, because Apple's limits apply per hour.
    private static let longest: Int64 = 3_600_000

    static func time(_ header: String?, at now: Timestamp) -> Timestamp {
        guard let milliseconds = header.flatMap(Int64.init), milliseconds > now.milliseconds else {
            return Timestamp(milliseconds: now.milliseconds + otherwise)
        }
        return Timestamp(milliseconds: min(milliseconds, now.milliseconds + longest))
    }
}
