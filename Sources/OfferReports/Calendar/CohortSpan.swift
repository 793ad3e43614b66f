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
}
