/// How a report of an offer divides customers into cohorts.
package struct ReportCohorts: Hashable, Sendable {
    package let span: CohortSpan
    package let zone: ReportZone

    package init(_ span: CohortSpan = .week, _ zone: ReportZone = .utc) {
        self.span = span
        self.zone = zone
    }
}
