package import OfferReports

/// `GET /reports?by=…`: the offers by rule, channel, storefront, product or cohort, one row for each offer and value.
package final class ReportPartsView: Sendable {
    package enum Part: String, CaseIterable, Sendable { case rule, channel, storefront, product, cohort }

    /// The order of the rows. The raw values are those of the field `sort`.
    package enum Order: String, CaseIterable, Sendable {
        /// Offers that need attention come first.
        case attention
        case value, offer, exposed, converted, effect
    }

    fileprivate struct Row: Sendable {
        let offer: ReportView.Offer
        let urgency: Int
        /// Such as the storefront; empty if it is unknown.
        let value: String
        let outcomes: OfferReport.Outcomes
        let isConversionComplete: Bool
        let isAccessComplete: Bool
        let difference: Difference?
    }

    let frame: PageFrame
    let part: Part
    let order: Order
    let cohorts: ReportCohorts
    /// The only value that is shown; nil for all.
    let only: String?
    private let rows: [Row]

    package init(
        frame: PageFrame, rows: [ReportsView.Row], by part: Part, cohorts: ReportCohorts = ReportCohorts(),
        only: String?, order: Order
    ) {
        self.frame = frame
        self.part = part
        self.cohorts = cohorts
        self.only = only
        self.order = order
        self.rows = rows.flatMap { $0.parts(part) }.filter { only == nil || $0.value == only }.sorted(by: order)
    }

    package var html: HTML {
        frame.page("Reports", in: .reports, "<h1>Reports</h1>\n\(ReportsView.choice(part))\(spans)\(list)")
    }

    private var address: PageAddress { PageAddress("/reports").with("by", part.rawValue).with(cohorts) }

    private var spans: HTML? {
        guard part == .cohort else { return nil }
        let links = CohortLinks(cohorts: cohorts, address: address)
        return "<p>Cohorts: \(links.spans)</p>\n<p>Time zone: \(links.zones)</p>\n"
    }

    private var filter: HTML? {
        only.map { value in
            """
            <p>Only \(part.rawValue) \(Self.name(value)). <a href="\(address)">Show all</a></p>
            """
        }
    }

    private var list: HTML {
        guard !rows.isEmpty else {
            return
                "\(filter)\(Blocks.empty("No report has such customers", "Reports that are being made appear here."))"
        }
        return Blocks.section(
            "parts", "Offers by \(part.rawValue)", count: rows.count,
            """
            \(filter)<p class="note">\(Self.scope(part))These are many comparisons: one of twenty looks different by chance. The verdict about an \
            offer is in its report.</p>
            <div class="scroll" role="region" aria-label="Offers by part" tabindex="0"><table class="figures">
            <thead><tr>\(head)</tr></thead>
            <tbody>
            \(rows.html(row))</tbody></table></div>
            """)
    }

    private static func scope(_ part: Part) -> HTML? {
        part == .cohort ? nil : "Only complete cohorts count. "
    }

    private var head: [HTML] {
        [
            column("Offer", .offer, "ascending"), column(Self.title(part), .value, "ascending"),
            column("Needs attention", .attention, "other"),
            column("Offered and held out", .exposed, "descending"), column("Converted", .converted, "descending"),
            "<th scope=\"col\">Access offered</th>", "<th scope=\"col\">Access held out</th>",
            column("Effect", .effect, "descending"),
        ]
    }

    private static func title(_ part: Part) -> StaticString {
        switch part {
        case .rule: "Rule"
        case .channel: "Channel"
        case .storefront: "Storefront"
        case .product: "Product"
        case .cohort: "Exposed from"
        }
    }

    /// A heading that sorts the rows.
    private func column(_ title: StaticString, _ order: Order, _ direction: StaticString) -> HTML {
        let isCurrent = order == self.order
        let mark: HTML? = isCurrent ? #" aria-sort="\#(direction)""# : nil
        let filtered = only.map { address.with("only", $0) } ?? address
        let sorted = filtered.with("sort", order.rawValue)
        return #"<th scope="col"\#(mark)><a href="\#(sorted)">\#(title)</a>\#(isCurrent ? " ↓" as HTML : nil)</th>"#
    }

    private func row(_ row: Row) -> HTML {
        let outcomes = row.outcomes
        let interval = row.difference?.always.map { always -> HTML in
            "<span class=\"note\">\(FixedText.points(always.lower)) to \(FixedText.points(always.upper))</span>"
        }
        let effect: HTML = row.difference.map { "\(FixedText.points($0.value)) points \(interval)" } ?? "–"
        let mark = ReportSections.hatching(row.isConversionComplete && row.isAccessComplete)
        return """
            <tr\(mark)><th scope="row"><a href="\(row.offer.address)">\(UserText.text(row.offer.offerID))</a>
            <p class="note">\(UserText.text(row.offer.productID))\
            \(row.offer.sample.map { "<br>sample \(UserText.text($0))" as HTML })</p></th>
            <td><a href="\(address.with("only", row.value))">\(Self.name(row.value))</a></td>
            <td>\(row.urgency < 5 ? "yes" as HTML : "no")</td>
            <td>\(ReportSections.count(outcomes.exposed.offered)) and \(ReportSections.count(outcomes.exposed.heldOut))</td>
            <td>\(ReportSections.share(outcomes.converted.offered.value))\(Self.mark(row.isConversionComplete))</td>
            <td>\(ReportSections.share(outcomes.access.offered.value))\(Self.mark(row.isAccessComplete))</td>
            <td>\(ReportSections.share(outcomes.access.heldOut.value))</td><td>\(effect)</td></tr>

            """
    }

    private static func mark(_ isComplete: Bool) -> HTML? { isComplete ? nil : " (not complete yet)" }

    private static func name(_ value: String) -> HTML { value.isEmpty ? "unknown or none" : UserText.text(value) }
}

extension ReportsView.Row {
    /// The customers of the offer by a part of the report.
    fileprivate func parts(_ part: ReportPartsView.Part) -> [ReportPartsView.Row] {
        guard let report else { return [] }
        func row(
            _ value: String, _ outcomes: OfferReport.Outcomes, _ hasConversion: Bool = true, _ hasAccess: Bool = true
        ) -> ReportPartsView.Row {
            ReportPartsView.Row(
                offer: offer, urgency: urgency, value: value, outcomes: outcomes, isConversionComplete: hasConversion,
                isAccessComplete: hasAccess,
                difference: outcomes.access.difference(plannedSize: report.question.plannedSize))
        }
        func groups(_ kind: OfferReport.Group.Kind) -> [ReportPartsView.Row] {
            report.groups.filter { $0.kind == kind }.map { row($0.name, $0.outcomes) }
        }
        return switch part {
        case .rule: groups(.rule)
        case .channel: groups(.channel)
        case .storefront: groups(.storefront)
        case .product: [row(offer.productID, report.total)]
        case .cohort:
            report.cohorts.map { row($0.start, $0.outcomes, $0.isConversionComplete, $0.isAccessComplete) }
        }
    }
}

extension [ReportPartsView.Row] {
    /// Rows without a number come last. Equal rows are in the order of their values and names.
    fileprivate func sorted(by order: ReportPartsView.Order) -> [ReportPartsView.Row] {
        func key(_ row: ReportPartsView.Row) -> Double {
            switch order {
            case .attention: Double(row.urgency)
            case .value, .offer: 0
            case .exposed: -Double(row.outcomes.exposed.total)
            case .converted: -(row.outcomes.converted.offered.value ?? -1)
            case .effect: -(row.difference?.value ?? -2)
            }
        }
        func names(_ row: ReportPartsView.Row) -> [String] {
            let offer = [row.offer.offerID, row.offer.productID, row.offer.app, row.offer.sample ?? ""]
            return order == .value ? [row.value] + offer : offer + [row.value]
        }
        return map { (key: key($0), names: names($0), row: $0) }.sorted { one, other in
            one.key == other.key ? one.names.lexicographicallyPrecedes(other.names) : one.key < other.key
        }.map(\.row)
    }
}
