import OfferCore

/// The time zone in which a report counts days.
package enum ReportZone: String, CaseIterable, Codable, Sendable {
    case utc
    /// Pacific time, in which Apple's own reports count days.
    case pacific

    /// Returns the time on the zone's clock, as if it were a time in UTC.
    func local(_ time: Timestamp) -> Int64 { time.milliseconds + offset(at: time) }

    /// Returns the first time at which the zone's clock shows a local time.
    func time(local: Int64) -> Timestamp {
        // The offset does not change near midnight, where days begin.
        let guess = Timestamp(milliseconds: local - offset(at: Timestamp(milliseconds: local)))
        return Timestamp(milliseconds: local - offset(at: guess))
    }

    private func offset(at time: Timestamp) -> Int64 {
        guard self == .pacific else { return 0 }
        let hour: Int64 = 3_600_000
        let year = CivilDay(containing: time.milliseconds - 8 * hour).year
        // Since 2007: from the second Sunday of March to the first Sunday of November, at 2 o'clock (15 U.S.C. 260a).
        let start = CivilDay.sunday(2, year: year, month: 3).start + 10 * hour
        let end = CivilDay.sunday(1, year: year, month: 11).start + 9 * hour
        return time.milliseconds >= start && time.milliseconds < end ? -7 * hour : -8 * hour
    }
}
