package import OfferCore

/// The distance between a time and now, in words.
package enum RelativeTime {
    private static let units: [(milliseconds: Int64, name: String)] = [
        (365 * CivilTime.millisecondsInDay, "year"), (30 * CivilTime.millisecondsInDay, "month"),
        (CivilTime.millisecondsInDay, "day"), (3_600_000, "hour"), (60_000, "minute"),
    ]

    /// Returns the distance in its largest whole unit, such as `in 3 days` or `2 hours ago`; `now` within a minute. A
    /// distance of up to 90 days is in days, because periods of subscriptions are.
    package static func words(_ time: Timestamp, now: Timestamp) -> String {
        let (difference, overflows) = time.milliseconds.subtractingReportingOverflow(now.milliseconds)
        guard !overflows, difference != .min else { return time < now ? "long ago" : "in the far future" }
        let distance = abs(difference)
        let unit = units.first { unit in
            unit.name == "month" ? distance > 90 * CivilTime.millisecondsInDay : distance >= unit.milliseconds
        }
        guard let unit else { return "now" }
        let words = Words.count(Int(distance / unit.milliseconds), unit.name)
        return difference > 0 ? "in " + words : words + " ago"
    }
}
