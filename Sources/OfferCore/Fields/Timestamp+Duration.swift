extension Timestamp {
    /// The time `duration` later, in whole milliseconds; ``max`` for a time out of range.
    /// - Parameter duration: not negative.
    package static func + (time: Timestamp, duration: Duration) -> Timestamp {
        let (seconds, attoseconds) = duration.components
        let (sum, overflow) = time.milliseconds.addingReportingOverflow(
            seconds * 1000 + attoseconds / 1_000_000_000_000_000)
        return overflow ? .max : Timestamp(milliseconds: sum)
    }

    /// The time from one to another; negative if the second one is later. Whatever the App Store signs, this cannot overflow.
    package static func - (later: Timestamp, earlier: Timestamp) -> Duration {
        .milliseconds(later.milliseconds) - .milliseconds(earlier.milliseconds)
    }
}

extension Duration {
    package static func hours(_ count: Int) -> Duration { .seconds(3600 * count) }

    package static func days(_ count: Int) -> Duration { .seconds(86_400 * count) }
}
