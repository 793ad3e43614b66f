import OfferCore
import OfferEligibility

/// The App Store's `Retry-After` header: a Unix time in milliseconds, not a date or a number of seconds as in HTTP.
enum RetryAfter {
    /// The delay in milliseconds if the header is missing or invalid.
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
