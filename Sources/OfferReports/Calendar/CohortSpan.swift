import OfferCore

/// The length of cohorts: the customers of one week or one month.
package enum CohortSpan: String, CaseIterable, Codable, Sendable {
    /// From Monday.
    case week
    case month

    /// The first day of the cohort that contains a time.
    func first(containing time: Timestamp, in zone: ReportZone) -> CivilDay {
        let day = CivilDay(containing: zone.local(time))
        return self == .week ? day.monday : day.firstOfMonth
    }

    /// The first day of the next cohort.
    func next(after first: CivilDay) -> CivilDay {
        self == .week ? CivilDay(number: first.number + 7) : first.firstOfNextMonth
    }

    /// The first day of an earlier cohort.
    func first(_ count: Int, before first: CivilDay) -> CivilDay {
        self == .week ? CivilDay(number: first.number - 7 * Int64(count)) : first.adding(months: -Int64(count))
    }

    /// The same time of day so many weeks or months later.
    func time(_ count: Int, after start: Timestamp, in zone: ReportZone) -> Timestamp {
        let local = zone.local(start)
        let day = CivilDay(containing: local)
        let later = self == .week ? CivilDay(number: day.number + 7 * Int64(count)) : day.adding(months: Int64(count))
        return zone.time(local: later.start + local - day.start)
    }
}
