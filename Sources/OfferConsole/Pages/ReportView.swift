package import OfferCore
package import OfferReports

/// `GET /reports/offer`: the report of an offer.
///
/// Action: `POST /reports/refresh` with the fields of the address. While the first report is being made, the page comes
/// with a `Refresh` header.
package final class ReportView: Sendable {
    /// The state of the work on a newer report.
    package enum Work: Hashable, Sendable {
        /// None is needed.
        case none
        case waiting(customersRead: Int)
        case failed(at: Timestamp)
        /// Too many reports are waiting.
        case refused
    }

    /// The offer that a report is about.
    package struct Offer: Sendable {
        let offerID: String
        let productID: String
        let app: String
        let environment: String
        /// nil for an inline rule.
        let rule: String?
        let sample: String?
        /// The page of its report.
        package let address: PageAddress

        package init(
            offerID: String, productID: String, app: String, environment: String, rule: String?, sample: String?,
            address: PageAddress
        ) {
            self.offerID = offerID
            self.productID = productID
            self.app = app
            self.environment = environment
            self.rule = rule
            self.sample = sample
            self.address = address
        }
    }

    let frame: PageFrame
    let now: Timestamp
    let offer: Offer
    let cohorts: ReportCohorts
    /// nil if none has been made.
    let report: OfferReport?
    let work: Work

    package init(
        frame: PageFrame, now: Timestamp, offer: Offer, cohorts: ReportCohorts = ReportCohorts(), report: OfferReport?,
        work: Work
    ) {
        self.frame = frame
        self.now = now
        self.offer = offer
        self.cohorts = cohorts
        self.report = report
        self.work = work
    }

    package var html: HTML {
        frame.page(
            "Report of \(offer.offerID)", in: .reports,
            """
            <p class="back"><a href="/reports">← Reports</a></p>
            <section class="card" aria-labelledby="report"><h1 id="report">Report of \(UserText.code(offer.offerID))</h1>
            <dl class="pairs"><dt>Product</dt><dd>\(UserText.text(offer.productID))</dd>
            <dt>App</dt><dd>\(UserText.text(offer.app)), \(offer.environment)</dd>
            <dt>Rule</dt><dd>\(offer.rule.map(UserText.text) ?? "inline rule")</dd>
            <dt>Sample</dt><dd>\(offer.sample.map(UserText.code) ?? "none: nobody is held out")</dd>
            <dt>Cohorts</dt><dd>\(links.spans)</dd><dt>Time zone of cohorts</dt><dd>\(links.zones)</dd>\(asOf)</dl>
            \(work.notice(hasReport: report != nil, now: now, unit: "customer"))\(controls)</section>
            \(report.map { ReportSections($0, csv: offer.address.moved(to: "/reports/offer.csv")).html })
            """)
    }

    private var links: CohortLinks { CohortLinks(cohorts: cohorts, address: offer.address) }

    private var asOf: HTML? {
        report.map { report in
            let digest: HTML? =
                report.question.rulesDigest.isEmpty
                ? nil
                : "\n<dt>Rules (SHA-256)</dt><dd>\(UserText.code(String(report.question.rulesDigest.prefix(12))))</dd>"
            return "\n<dt>As of</dt><dd>\(frame.clock.html(report.question.asOf, now: now))</dd>\(digest)"
        }
    }

    private var controls: HTML {
        let again: HTML? = if case .waiting = work { nil } else { "<button>Make it again</button>" }
        let all: HTML? = report.map { _ in
            #"<a class="button" href="\#(offer.address.moved(to: "/reports/offer.csv"))">Download all numbers as CSV</a>"#
        }
        return """
            <form class="buttons" method="post" action="/reports/refresh">
            \(offer.address.hiddenFields)\(again)\(all)</form>
            """
    }
}

extension ReportView.Work {
    /// - Parameter unit: what is read for the report, in the singular.
    func notice(hasReport: Bool, now: Timestamp, unit: String) -> HTML? {
        switch self {
        case .none: return nil
        case .waiting(let count):
            let read: HTML =
                count == 0 ? "It waits for its turn, or has just begun." : "\(Words.count(count, unit)) read so far."
            return Blocks.notice(
                .information, hasReport ? "A newer report is being made." : "The report is being made.",
                "<p>\(read) It runs only while no request needs the processor.</p>")
        case .failed(let time):
            return Blocks.notice(
                .problem, "The last attempt failed (\(RelativeTime.words(time, now: now))).",
                "<p>An operator finds the reason in the log.</p>")
        case .refused:
            return Blocks.notice(
                .warning, "Too many reports are waiting.", "<p>Open this page again in a few minutes.</p>")
        }
    }
}
