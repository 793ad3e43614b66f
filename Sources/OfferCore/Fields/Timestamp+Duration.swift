extension Timestamp {
    /// The time `duration` later, rounded down to the millisecond. A time out of range becomes the nearest one in range.
    package static func + (time: Timestamp, duration: Duration) -> Timestamp {
        let (seconds, attoseconds) = duration.components
        let (fromSeconds, tooMany) = seconds.multipliedReportingOverflow(by: 1000)
        let (sum, tooLate) = time.milliseconds.addingReportingOverflow(fromSeconds + attoseconds / 1_000_000_000_000_000)
        guard !tooMany, !tooLate else { return Timestamp(milliseconds: seconds < 0 ? .min : .max) }
        return Timestamp(milliseconds: sum)
    }
}

extension Duration {
    package static func hours(_ count: Int) -> Duration { .seconds(3600 * count) }

    package static func days(_ count: Int) -> Duration { .seconds(86_400 * count) }
}
