package import OfferCore
package import OfferReports

/// `GET /reports/subscriptions`: the report about the subscriptions of an app.
///
/// Action: `POST /reports/subscriptions/refresh` with the fields of the address. While the first report is being made, the
/// page comes with a `Refresh` header.
package final class SubscriptionReportView: Sendable {
    let frame: PageFrame
    let now: Timestamp
    let app: String
    let environment: String
    let zone: ReportZone
    /// nil if none has been made.
    let report: SubscriptionReport?
    /// The group whose numbers are shown; nil for all subscriptions.
    let group: SubscriptionReport.Group?
    let work: ReportView.Work
    /// The address of the page.
    let address: PageAddress

    package init(
        frame: PageFrame, now: Timestamp, app: String, environment: String, zone: ReportZone,
        report: SubscriptionReport?, group: SubscriptionReport.Group?, work: ReportView.Work, address: PageAddress
    ) {
        self.frame = frame
        self.now = now
        self.app = app
        self.environment = environment
        self.zone = zone
        self.report = report
        self.group = group
        self.work = work
        self.address = address
    }

    package var html: HTML {
        frame.page(
            "Subscriptions", in: .reports,
            """
            <p class="back"><a href="/reports">← Reports</a></p>
            <section class="card" aria-labelledby="report"><h1 id="report">Subscriptions</h1>
            <dl class="pairs"><dt>App</dt><dd>\(UserText.text(app)), \(environment)</dd>
            <dt>Time zone of months</dt><dd>\(zones)</dd>\(asOf)</dl>
            \(work.notice(hasReport: report != nil, now: now, unit: "subscription"))\(controls)</section>
            \(report.map { SubscriptionReportSections($0, group, address: address).html })
            """)
    }

    /// The time zone, and a link to the other one.
    private var zones: [HTML] {
        ReportZone.allCases.html { zone -> HTML in
            let name: HTML = zone == .utc ? "UTC" : "Pacific, as in Apple's reports"
            guard zone != self.zone else { return "<b>\(name)</b> " }
            return #"<a href="\#(address.without(["zone"]).with("zone", zone.rawValue))">\#(name)</a> "#
        }
    }

    private var asOf: HTML? {
        report.map { "\n<dt>As of</dt><dd>\(frame.clock.html($0.question.asOf, now: now))</dd>" }
    }

    private var controls: HTML {
        let again: HTML? = if case .waiting = work { nil } else { "<button>Make it again</button>" }
        let all: HTML? = report.map { _ in
            let file = address.moved(to: "/reports/subscriptions.csv")
            return #"<a class="button" href="\#(file)">Download all numbers as CSV</a>"#
        }
        return """
            <form class="buttons" method="post" action="/reports/subscriptions/refresh">
            \(address.without(["by", "name"]).hiddenFields)\(again)\(all)</form>
            """
    }
}
