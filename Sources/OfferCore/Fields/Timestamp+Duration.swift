extension Timestamp {
    /// The time `duration` later, in whole milliseconds; ``max`` for a time out of range.
    /// - Parameter duration: not negative, and less than a million years.
    package static func + (time: Timestamp, duration: Duration) -> Timestamp {
        let (sum, overflow) = time.milliseconds.addingReportingOverflow(duration.milliseconds)
        return overflow ? .max : Timestamp(milliseconds: sum)
    }

    /// The time `duration` earlier, in whole milliseconds; ``min`` for a time out of range.
    /// - Parameter duration: not negative, and less than a million years.
    package static func - (time: Timestamp, duration: Duration) -> Timestamp {
        let (difference, overflow) = time.milliseconds.subtractingReportingOverflow(duration.milliseconds)
        return overflow ? .min : Timestamp(milliseconds: difference)
    }

    /// The time from one to another; negative if the second one is later. Whatever the App Store signs, this cannot overflow.
    package static func - (later: Timestamp, earlier: Timestamp) -> Duration {
        .milliseconds(later.milliseconds) - .milliseconds(earlier.milliseconds)
    }
}

extension Duration {
    /// Rounded towards zero.
    fileprivate var milliseconds: Int64 {
        let (seconds, attoseconds) = components
        return seconds * 1000 + attoseconds / 1_000_000_000_000_000
    }

    package static func hours(_ count: Int) -> Duration { .seconds(3600 * count) }

    package static func days(_ count: Int) -> Duration { .seconds(86_400 * count) }
}
