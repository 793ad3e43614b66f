import OfferCore
package import OfferReports

/// The report about the subscriptions of an app as a file of its own, to mail: without links, scripts or anything to load.
package struct SubscriptionReportPage {
    let report: SubscriptionReport
    let version: String

    package init(_ report: SubscriptionReport, version: String) {
        self.report = report
        self.version = version
    }

    package var html: HTML {
        let question = report.question
        let zone: HTML = question.zone == .utc ? "UTC" : "Pacific time"
        return ReportPage.file(
            title: "Subscriptions of \(UserText.short(question.bundleID, bytes: 80))",
            heading: "Subscriptions of \(UserText.code(question.bundleID))",
            note: """
                \(question.environment), as of \(ConsoleClock.utc.html(question.asOf)) UTC, with days in \(zone). The numbers of \
                each product, storefront, billing plan and price are in the CSV and JSON formats.
                """,
            body: SubscriptionReportSections(report).html, rulesDigest: question.rulesDigest, version: version)
    }
}
