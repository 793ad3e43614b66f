import OfferCore
package import OfferReports

/// The comparison with Apple's Subscription Event report as a file of its own.
package struct ComparisonPage {
    let comparison: ReportComparison
    let version: String

    package init(_ comparison: ReportComparison, version: String) {
        self.comparison = comparison
        self.version = version
    }

    package var html: HTML {
        let question = comparison.question
        let zone: HTML = question.zone == .utc ? "UTC" : "Pacific time"
        return ReportPage.file(
            title: "Comparison of \(UserText.short(question.bundleID, bytes: 80))",
            heading: "\(UserText.code(question.bundleID)) beside Apple's Subscription Event report",
            note: """
                \(question.environment), as of \(ConsoleClock.utc.html(question.asOf)) UTC. Days here are in \(zone), and those of \
                Apple's report in Pacific time.
                """,
            body: "\(notice)\(caution)\(differences)\(totals)\(others)", rulesDigest: question.rulesDigest,
            version: version)
    }

    private var notice: HTML {
        Blocks.notice(comparison.differences.isEmpty ? .success : .information, "\(comparison.sentence)")
    }

    private var caution: HTML? { comparison.caution.map { Blocks.notice(.warning, "\($0)") } }

    private var differences: HTML? {
        guard !comparison.differences.isEmpty else { return nil }
        let rows = comparison.differences.map { row in
            ReportSections.row(
                "\(row.day)",
                [
                    Self.name(row.event), ReportSections.count(row.apple), ReportSections.count(row.here),
                    "\(row.cause.text)",
                ])
        }
        return Blocks.section(
            "differences", "Days that differ",
            Blocks.table(
                "Days that differ", head: ["Day", "Event", "Apple", "Here", "Likely cause"], rows: rows,
                class: "numbers"))
    }

    private var totals: HTML {
        let rows = comparison.totals.map { total in
            ReportSections.row(
                Self.name(total.event), [ReportSections.count(total.apple), ReportSections.count(total.here)])
        }
        return Blocks.section(
            "totals", "All days of Apple's report",
            Blocks.table("All days", head: ["Event", "Apple", "Here"], rows: rows, class: "numbers"))
    }

    private var others: HTML? {
        guard !comparison.others.isEmpty || comparison.otherApps > 0 else { return nil }
        let rows = comparison.others.map { other in
            ReportSections.row(UserText.text(other.name), [ReportSections.count(other.count)])
        }
        let table =
            rows.isEmpty
            ? nil
            : Blocks.table("Events that are not compared", head: ["Event", "Apple"], rows: rows, class: "numbers")
        return Blocks.section(
            "others", "Not compared",
            "\(table)<p class=\"note\">Lines about other apps: \(ReportSections.count(comparison.otherApps)).</p>")
    }

    private static func name(_ event: ComparedEvent) -> HTML { "\(event.rawValue.replacing("_", with: " "))" }
}
