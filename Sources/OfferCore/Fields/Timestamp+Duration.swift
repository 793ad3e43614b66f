extension Timestamp {
    /// Returns the time `duration` later, in whole milliseconds, or ``max`` if it is out of range.
    /// - Parameter duration: not negative, and less than a million years.
    package static func + (time: Timestamp, duration: Duration) -> Timestamp {
        let (sum, overflow) = time.milliseconds.addingReportingOverflow(duration.milliseconds)
        return overflow ? .max : Timestamp(milliseconds: sum)
    }

    /// Returns the time `duration` earlier, in whole milliseconds, or ``min`` if it is out of range.
    /// - Parameter duration: not negative, and less than a million years.
    package static func - (time: Timestamp, duration: Duration) -> Timestamp {
        let (difference, overflow) = time.milliseconds.subtractingReportingOverflow(duration.milliseconds)
        return overflow ? .min : Timestamp(milliseconds: difference)
    }

    /// Returns the duration from `earlier` to `later`, which is negative if `earlier` is later. No pair of timestamps
    /// overflows it.
    package static func - (later: Timestamp, earlier: Timestamp) -> Duration {
        .milliseconds(later.milliseconds) - .milliseconds(earlier.milliseconds)
    }
}

extension Duration {
    /// The whole milliseconds, rounded towards zero.
    fileprivate var milliseconds: Int64 {
        let (seconds, attoseconds) = components
        return seconds * 1000 + attoseconds / 1_000_000_000_000_000
    }

    package static func hours(_ count: Int) -> Duration { .seconds(3600 * count) }

    package static func days(_ count: Int) -> Duration { .seconds(86_400 * count) }
}
