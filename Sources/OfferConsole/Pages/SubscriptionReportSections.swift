import OfferCore
import OfferReports

/// The sections of a report about subscriptions, with the numbers of one group.
struct SubscriptionReportSections {
    let report: SubscriptionReport
    let group: SubscriptionReport.Group
    /// The page of the report, which can show another group; nil in a file of its own.
    let address: PageAddress?

    /// - Parameter group: nil for all subscriptions.
    init(_ report: SubscriptionReport, _ group: SubscriptionReport.Group? = nil, address: PageAddress? = nil) {
        self.report = report
        self.group = group ?? report.groups.first ?? SubscriptionReport.Group(empty: report.question)
        self.address = address
    }

    var html: HTML {
        "\(standing)\(title)\(flow)\(retention)\(recovery)\(paidDays)\(messages)\(definitions)"
    }

    private var span: StaticString { report.question.span == .week ? "week" : "month" }

    private var title: HTML {
        group.kind == .all
            ? "<h2>All subscriptions</h2>\n" : "<h2>\(Self.heading(group.kind)): \(Self.name(group))</h2>\n"
    }

    func download(_ table: SubscriptionReport.Table) -> HTML? {
        address.map { address in
            let file = address.moved(to: "/reports/subscriptions.csv").with("table", table.rawValue)
            return #"<p class="download"><a href="\#(file)">Download as CSV</a></p>"#
        }
    }

    // MARK: The present

    private var standing: HTML {
        let rows = report.groups.map { group in
            let now = group.now
            let name: HTML = group.kind == .all ? "All" : "\(Self.heading(group.kind)): \(Self.name(group))"
            let link: HTML = address.map { #"<a href="\#($0.of(group))">\#(name)</a>"# } ?? name
            let numbers =
                [now.allActive] + PriceKind.allCases.map(now.active) + [now.inGrace, now.inRetry, now.awaitingConsent]
            return ReportSections.row(link, numbers.map(ReportSections.count))
        }
        let head: [StaticString] = [
            "Subscriptions", "Active", "Standard price", "Trial", "Introductory price", "Offer", "Grace period",
            "Billing retry", "Price increase not agreed to",
        ]
        return Blocks.section(
            "now", "Now",
            """
            \(Self.definition(.active))
            \(Blocks.table("Subscriptions now", head: head, rows: rows, class: "numbers"))\(download(.now))
            """)
    }

    // MARK: Beginnings and ends

    private var flow: HTML {
        let periods = group.periods
        let plot = Plot(
            id: "flow-plot", title: "Subscriptions that began and ended by \(span)",
            description: "New, resubscribed and recovered ones, and ends for any cause. The table has the numbers.",
            labels: periods.map(\.start),
            series: [
                Plot.Series("began", .bars, periods.map { Double($0.new + $0.resubscribed + $0.recovered) }),
                Plot.Series("ended", .line, periods.map { Double($0.allEnded) }),
            ], incomplete: periods.count { !$0.isComplete })
        let churn = Plot(
            id: "churn-plot", title: "Churn by \(span), in %",
            description: "Ends of access among those with access at the start. The table has the numbers.",
            labels: periods.map(\.start),
            series: [Plot.Series("churn", .line, periods.map { $0.churn.value.map { $0 * 100 } })],
            incomplete: periods.count { !$0.isComplete }, isWhole: false)
        let rows =
            [ReportSections.row("All complete ones", cells(group.total, isTotal: true))]
            + periods.reversed().map { period in
                ReportSections.row(
                    "\(period.start)\(Self.mark(period.isComplete))", cells(period, isTotal: false),
                    isComplete: period.isComplete)
            }
        let head: [StaticString] = [
            "From", "At the start", "New", "Resubscribed", "Recovered", "Appeared", "Moved in", "Moved out",
            "Cancelled", "Billing", "Refunded", "Price", "Other", "At the end", "Churn", "95 %",
        ]
        return Blocks.section(
            "flow", "Beginnings and ends",
            """
            \(Self.definition(.ended))\(Self.definition(.churn))
            \(plot.html)\(churn.html)
            \(Blocks.table("Subscriptions that began and ended", head: head, rows: rows, class: "numbers"))\(download(.periods))
            """)
    }

    /// - Parameter isTotal: true for several weeks or months, which have no start and end of their own.
    private func cells(_ flow: SubscriptionReport.Flow, isTotal: Bool) -> [HTML] {
        let numbers =
            [flow.new, flow.resubscribed, flow.recovered, flow.appeared, flow.movedIn, flow.movedOut] + flow.ended
        return [isTotal ? "–" : ReportSections.count(flow.atStart)] + numbers.map(ReportSections.count)
            + [
                isTotal ? "–" : ReportSections.count(flow.atEnd), ReportSections.share(flow.churn.value),
                ReportSections.interval(flow.churn.interval),
            ]
    }

    private static func mark(_ isComplete: Bool) -> HTML? { isComplete ? nil : " (not complete yet)" }

    // MARK: Cohorts

    private var retention: HTML {
        let note: HTML? =
            group.cohorts.contains { $0.complete < $0.cells.count }
            ? #"<p class="note">* Not everybody in the cohort has reached it yet. It does not count in totals.</p>"#
            : nil
        return Blocks.section(
            "cohorts", "Retention and churn by cohort",
            """
            <h3>Retention</h3>\(Self.definition(.retention))
            \(heatTable("Retention by cohort", \.retention))
            <h3>Churn from one \(span) to the next</h3>
            \(heatTable("Churn by cohort", \.churn))\(note)\(download(.cohorts))
            """)
    }

    private func heatTable(
        _ name: StaticString, _ share: KeyPath<SubscriptionReport.Cell, Share>
    ) -> HTML {
        let heads = (1...SubscriptionQuestion.followed).html { #"<th scope="col">After \#($0)</th>"# }
        func cells(_ cells: [SubscriptionReport.Cell], complete: Int) -> [HTML] {
            (0..<SubscriptionQuestion.followed).html { place -> HTML in
                guard place < cells.count else { return "<td></td>" }
                let cell = cells[place][keyPath: share]
                guard let value = cell.value else { return "<td>–</td>" }
                let isOpen = place >= complete
                return """
                    <td class="\(Self.heat(value))\(isOpen ? " open" as HTML : nil)">\(FixedText.points(value))\
                    \(isOpen ? "*" as HTML : nil)</td>
                    """
            }
        }
        let total = group.totalCells
        let rows = group.cohorts.reversed().filter { $0.size > 0 }.html { cohort in
            """
            <tr><th scope="row">\(cohort.start)</th><td>\(ReportSections.count(cohort.size))</td>\
            \(cells(cohort.cells, complete: cohort.complete))</tr>

            """
        }
        return """
            <div class="scroll" role="region" aria-label="\(name), in %" tabindex="0"><table class="numbers heat">
            <thead><tr><th scope="col">Began from</th><th scope="col">Subscriptions</th>\(heads)</tr></thead>
            <tbody>
            <tr><th scope="row">All complete cohorts</th><td>–</td>\(cells(total, complete: total.count))</tr>
            \(rows)</tbody></table></div>
            """
    }

    /// The class of the colour of a share, one for each tenth.
    private static func heat(_ value: Double) -> StaticString {
        let classes: [StaticString] = ["h0", "h1", "h2", "h3", "h4", "h5", "h6", "h7", "h8", "h9"]
        return classes[min(9, max(0, Int(value * 10)))]
    }

    // MARK: Failed payments and paid days

    private var recovery: HTML {
        let days = SubscriptionQuestion.recoveryDays
        let plot = Plot(
            id: "recovery-plot", title: "Recovered renewals by days since the failure, in %",
            description: "With a band of 95 %. The table below has the numbers.", labels: days.map { "day \($0)" },
            series: [
                Plot.Series(
                    "95 %", .band(upper: group.recovery.map { $0.interval.map { $0.upper * 100 } }),
                    group.recovery.map { $0.interval.map { $0.lower * 100 } }),
                Plot.Series("recovered", .line, group.recovery.map { $0.value.map { $0 * 100 } }),
            ], isWhole: false)
        let rows = zip(days, group.recovery).map { day, share in
            ReportSections.row("\(day)", ReportSections.cells(share))
        }
        let head: [StaticString] = ["Day", "Recovered", "Failed", "Share", "95 %"]
        return Blocks.section(
            "recovery", "Recovery from failed payments",
            """
            \(Self.definition(.recovery))
            \(plot.html)\(Blocks.table("Recovery by day", head: head, rows: rows, class: "numbers"))\(download(.recovery))
            """)
    }

    private var paidDays: HTML {
        let classes = SubscriptionQuestion.paidDayClasses
        let rows = classes.indices.map { place in
            let name: HTML =
                place + 1 < classes.count
                ? "\(classes[place]) to \(classes[place + 1] - 1)" : "\(classes[place]) and more"
            return ReportSections.row(name, [ReportSections.count(group.now.paidDays[place])])
        }
        return Blocks.section(
            "paid-days", "Paid days",
            """
            \(Self.definition(.paidDays))
            \(Blocks.table("Active subscriptions by paid days", head: ["Days", "Subscriptions"], rows: rows, class: "numbers"))
            """)
    }

    // MARK: Words

    private var definitions: HTML {
        let items = SubscriptionDefinition.allCases.html { definition in
            "<dt>\(definition.rawValue.replacing("_", with: " "))</dt><dd>\(definition.text)</dd>"
        }
        return Blocks.section(
            "definitions", "What the numbers mean", #"<dl class="pairs">\#(items)</dl>\#(Self.comparison)"#)
    }

    private static var comparison: HTML {
        let rows = DefinitionComparison.allCases.map { number in
            ReportSections.row(
                "\(number.rawValue)", ["\(number.here)", "\(number.atApple)", "\(number.atRevenueCat)"])
        }
        let head: [StaticString] = ["Number", "Here", "App Store Connect", "RevenueCat"]
        return """
            <details><summary>Apple's and RevenueCat's definitions</summary>
            <p class="note">These are different questions, so different numbers are no error.</p>
            \(Blocks.table("Definitions beside Apple's and RevenueCat's", head: head, rows: rows))</details>
            """
    }

    static func definition(_ definition: SubscriptionDefinition) -> HTML {
        "<p class=\"note\">\(definition.text)</p>"
    }

    static func heading(_ kind: SubscriptionReport.Group.Kind) -> StaticString {
        switch kind {
        case .all: "All"
        case .product: "Product"
        case .storefront: "Storefront"
        case .plan: "Billing plan"
        case .price: "Price"
        }
    }

    static func name(_ group: SubscriptionReport.Group) -> HTML { UserText.text(group.label) }
}

extension PageAddress {
    /// The address of the same report with the numbers of a group.
    fileprivate func of(_ group: SubscriptionReport.Group) -> PageAddress {
        var address = self.without(["by", "name"])
        guard group.kind != .all else { return address }
        address = address.with("by", group.kind.rawValue)
        return group.name.map { address.with("name", $0) } ?? address
    }
}
