package import OfferCore

/// `GET /offers`: every offer of the configuration, and how much it is used.
package final class OffersView: Sendable {
    package final class Offer: Sendable {
        let offerID: String
        let productID: String
        let app: String
        /// The name of the rule; nil for an inline rule, and for an offer without a rule.
        let ruleName: String?
        /// The rule in words; nil if every authorised client may have the offer.
        let rule: String?
        /// The limits in words, such as `once in 365 days for each customer`.
        let limits: [String]
        let total: Total?
        let signed: Int64
        let redeemed: Int64
        let offered: Int64
        let heldOut: Int64
        /// The page with the plot of this offer.
        let address: PageAddress
        /// The report of the offer; nil for an offer without a rule, and for persons who may not read reports.
        let report: PageAddress?

        package init(
            offerID: String, productID: String, app: String, ruleName: String?, rule: String?, limits: [String],
            total: Total?, signed: Int64, redeemed: Int64, offered: Int64, heldOut: Int64, address: PageAddress,
            report: PageAddress? = nil
        ) {
            self.offerID = offerID
            self.productID = productID
            self.app = app
            self.ruleName = ruleName
            self.rule = rule
            self.limits = limits
            self.total = total
            self.signed = signed
            self.redeemed = redeemed
            self.offered = offered
            self.heldOut = heldOut
            self.address = address
            self.report = report
        }
    }

    /// The limit `total` of an offer.
    package final class Total: Sendable {
        let used: Int64
        let limit: Int64

        package init(used: Int64, limit: Int64) {
            self.used = used
            self.limit = limit
        }
    }

    /// The counts of a day, in UTC.
    package final class Day: Sendable {
        let start: Timestamp
        let signed: Int64
        let redeemed: Int64

        package init(start: Timestamp, signed: Int64, redeemed: Int64) {
            self.start = start
            self.signed = signed
            self.redeemed = redeemed
        }
    }

    let frame: PageFrame
    let offers: [Offer]
    /// The offer that the plot is about; nil for all offers.
    let selected: Offer?
    /// The oldest first, without gaps. The last one is today.
    let days: [Day]
    let csv: PageAddress?

    package init(frame: PageFrame, offers: [Offer], selected: Offer? = nil, days: [Day], csv: PageAddress? = nil) {
        self.frame = frame
        self.offers = offers
        self.selected = selected
        self.days = days
        self.csv = csv
    }

    package var html: HTML {
        frame.page("Offers", in: .offers, "<h1>Offers</h1>\n\(activity)\(list)")
    }

    private var activity: HTML? {
        guard !offers.isEmpty else { return nil }
        let title = selected.map { "Signed and redeemed per day: \($0.offerID)" } ?? "Signed and redeemed per day"
        let heading: HTML = selected.map { "Activity of \(UserText.code($0.offerID))" } ?? "Activity"
        let back: HTML? = selected.map { _ in #"<p><a href="/offers">Show all offers</a></p>"# }
        guard days.contains(where: { $0.signed + $0.redeemed > 0 }) else {
            return Blocks.section(
                "activity", heading,
                "\(back)\(Blocks.empty("No signatures yet", "The first decision that signs an offer appears here."))")
        }
        let signed = days.reduce(0) { $0 + $1.signed }
        let redeemed = days.reduce(0) { $0 + $1.redeemed }
        let plot = Plot(
            id: "daily", title: title,
            description: """
                From \(ConsoleClock.utc.date(days[0].start)): \(Words.grouped(signed)) signed and \
                \(Words.grouped(redeemed)) redeemed. The table below has the numbers.
                """,
            labels: days.map { ConsoleClock.utc.date($0.start) },
            series: [
                Plot.Series("signed", .bars, days.map { Double($0.signed) }),
                Plot.Series("redeemed", .line, days.map { Double($0.redeemed) }),
            ], incomplete: 1)
        return Blocks.section("activity", heading, "\(back)\(plot.html)\(numbers)")
    }

    private var numbers: HTML {
        let rows = days.reversed().map { day in
            Blocks.row([
                "\(ConsoleClock.utc.date(day.start))", Self.number(day.signed), Self.number(day.redeemed),
            ])
        }
        return """
            <details><summary>The numbers as a table</summary>
            \(Blocks.table("Numbers per day", head: ["Day (UTC)", "Signed", "Redeemed"], rows: rows, class: "numbers"))
            \(csv.map { #"<p class="download"><a href="\#($0)">Download as CSV</a></p>"# })</details>
            """
    }

    private var list: HTML {
        guard !offers.isEmpty else {
            return Blocks.empty(
                "No offers are configured",
                "Add an offer to a product in the configuration file, and send SIGHUP. It then appears here.")
        }
        let head: [StaticString] = [
            "Offer", "Rule", "Limits", "Redeemed of total", "Signed (28 days)", "Redeemed", "Exposures (28 days)",
        ]
        return Blocks.section(
            "catalogue", "Catalogue", count: offers.count,
            Blocks.table("Offers of the catalogue", head: head, rows: offers.html(row), class: "catalogue"))
    }

    private func row(_ offer: Offer) -> HTML {
        let name = offer.ruleName.map { "<b>\(UserText.text($0))</b><br>" as HTML }
        let limits: HTML =
            offer.limits.isEmpty ? "none" : #"<ul class="plain">\#(offer.limits.html { "<li>\($0)</li>" })</ul>"#
        let report = offer.report.map { #"<p class="note"><a href="\#($0)">Report</a></p>"# as HTML }
        let exposures: HTML =
            offer.offered + offer.heldOut == 0
            ? "none" : "\(Words.grouped(offer.offered)) offered<br>\(Words.grouped(offer.heldOut)) held out"
        return """
            <tr><th scope="row"><a href="\(offer.address)">\(UserText.text(offer.offerID))</a>
            <p class="note">\(UserText.text(offer.productID))<br>\(UserText.text(offer.app))</p>\(report)</th>
            <td class="words">\(name)\(offer.rule.map(UserText.text) ?? "No rule: for every authorised client.")</td>
            <td>\(limits)</td>
            <td>\(offer.total.map(Self.meter) ?? "no total")</td><td>\(Self.number(offer.signed))</td>
            <td>\(Self.number(offer.redeemed))</td><td>\(exposures)</td></tr>

            """
    }

    /// The share of the total, as text and as a bar.
    private static func meter(_ total: Total) -> HTML {
        let share = total.limit > 0 ? min(1, max(0, Double(total.used) / Double(total.limit))) : 1
        let tone: StaticString = share >= 1 ? "full" : share >= 0.9 ? "near" : "fine"
        return """
            \(Words.grouped(total.used)) of \(Words.grouped(total.limit))<svg class="meter \(tone)" viewBox="0 0 100 6" \
            preserveAspectRatio="none" aria-hidden="true"><rect class="whole" width="100" height="6"/>\
            <rect class="part" width="\(share * 100)" height="6"/></svg>
            """
    }

    private static func number(_ number: Int64) -> HTML { #"<span class="number">\#(Words.grouped(number))</span>"# }
}
