package import OfferReports

extension PageAddress {
    /// The address of the same page with other cohorts. The usual ones are in no address.
    package func with(_ cohorts: ReportCohorts) -> PageAddress {
        var address = without(["cohorts", "zone"])
        if cohorts.span != ReportCohorts().span { address = address.with("cohorts", cohorts.span.rawValue) }
        if cohorts.zone != ReportCohorts().zone { address = address.with("zone", cohorts.zone.rawValue) }
        return address
    }
}

/// Links to the same page with other cohorts.
struct CohortLinks {
    let cohorts: ReportCohorts
    let address: PageAddress

    var spans: [HTML] {
        CohortSpan.allCases.html { span -> HTML in
            link(span == .week ? "Weeks" : "Months", ReportCohorts(span, cohorts.zone), span == cohorts.span)
        }
    }

    var zones: [HTML] {
        ReportZone.allCases.html { zone -> HTML in
            link(
                zone == .utc ? "UTC" : "Pacific, as in Apple's reports", ReportCohorts(cohorts.span, zone),
                zone == cohorts.zone)
        }
    }

    private func link(_ name: HTML, _ other: ReportCohorts, _ isCurrent: Bool) -> HTML {
        isCurrent ? "<b>\(name)</b> " : #"<a href="\#(address.with(other))">\#(name)</a> "#
    }
}
