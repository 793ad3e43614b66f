import OfferCore
package import OfferReports

/// The report of an offer as a file of its own, to mail: without links, scripts or anything to load.
package struct ReportPage {
    let report: OfferReport
    let version: String

    package init(_ report: OfferReport, version: String) {
        self.report = report
        self.version = version
    }

    private var question: ReportQuestion { report.question }

    package var html: HTML {
        Self.file(
            title: "Report of \(UserText.short(question.offerID, bytes: 80))",
            heading: "Report of \(UserText.code(question.offerID))",
            note: """
                App \(UserText.code(question.bundleID)), \(question.environment), product \
                \(UserText.code(question.productID)), \(sample), as of \(ConsoleClock.utc.html(question.asOf)) UTC.
                """,
            body: ReportSections(report).html, rulesDigest: question.rulesDigest, version: version)
    }

    private var sample: HTML {
        question.sample.map { "sample \(UserText.code($0))" } ?? "without a sample"
    }

    /// - Parameters:
    ///   - note: a sentence that says what the report is about.
    ///   - body: the sections.
    static func file(
        title: HTML, heading: HTML, note: HTML, body: HTML, rulesDigest: String, version: String
    ) -> HTML {
        let digest: HTML? = rulesDigest.isEmpty ? nil : "<p>Rules \(UserText.code(rulesDigest))</p>"
        return """
            <!doctype html>
            <html lang="en">
            <head>
            <meta charset="utf-8">
            <title>\(title)</title>
            <meta name="viewport" content="width=device-width, initial-scale=1">
            <meta name="color-scheme" content="light dark">
            <meta name="robots" content="noindex">
            <meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
            <style>
            \(HTML.styleSheet)</style>
            </head>
            <body>
            <main id="main">
            <h1>\(heading)</h1>
            <p class="note">\(note)</p>
            \(body)</main>
            <footer><div class="bar"><p>offer-signer \(version)</p>\(digest)</div></footer>
            </body>
            </html>

            """
    }
}
