import OfferCore
import OfferReports

/// The sections of a report.
struct ReportSections {
    let report: OfferReport
    /// The page from which the numbers of each section can be downloaded; nil in a file of its own.
    var csv: PageAddress?

    init(_ report: OfferReport, csv: PageAddress? = nil) {
        self.report = report
        self.csv = csv
    }

    var html: HTML {
        guard report.funnel.exposed.total > 0 else {
            return Blocks.empty(
                "Nobody has been exposed to the offer yet",
                "The first customers for whom everything except the share of the rule holds appear here.")
        }
        return """
            \(verdict)\(effect)\(access)\(funnel)\(paid)\(engagement)\(retention)\(churn)\(cohorts)\(groups)\(trust)\
            \(definitions)
            """
    }

    var question: ReportQuestion { report.question }

    /// A link to the numbers of a section.
    func download(_ table: OfferReport.Table) -> HTML? {
        csv.map { #"<p class="download"><a href="\#($0.with("table", table.rawValue))">Download as CSV</a></p>"# }
    }

    private var verdict: HTML {
        let kind: Blocks.NoticeKind =
            switch report.effect.verdict {
            case .clear(let isGain): isGain ? .success : .warning
            case .broken: .problem
            case .small, .noHoldout, .tooEarly, .notClear: .information
            }
        return Blocks.notice(kind, "\(report.sentence)")
    }

    private var effect: HTML {
        let rows: [HTML] = [
            Self.row("Offered", Self.cells(report.effect.arms.offered)),
            Self.row("Held out", Self.cells(report.effect.arms.heldOut)),
        ]
        let difference = report.effect.difference.map { difference -> HTML in
            """
            <p>Difference: <b>\(FixedText.points(difference.value)) points</b>. 95 % if you look once: \
            \(Self.points(difference.once)). At any number of looks: \(Self.points(difference.always)).</p>
            """
        }
        return Blocks.section(
            "effect", "Effect on access on day \(question.effectDay)",
            """
            \(Self.definition(.effect, question))
            \(Blocks.table("Access of the arms", head: ["Arm", "With access", "Customers", "Share", "95 %"], rows: rows, class: "numbers"))
            \(difference)\(download(.effect))
            """)
    }

    private var access: HTML {
        // Days that no customer has reached yet have no data.
        let reached = report.access.lastIndex { $0.arms.offered.total + $0.arms.heldOut.total > 0 } ?? 0
        let rows = report.access.prefix(reached + 1)
        func values(_ arm: ExposedCustomer.Arm, _ value: (Share) -> Double?) -> [Double?] {
            rows.map { value($0.arms[arm]).map { $0 * 100 } }
        }
        let series = [("offered", ExposedCustomer.Arm.offered), ("held out", .heldOut)].flatMap { name, arm in
            [
                Plot.Series(
                    "\(name), 95 %", .band(upper: values(arm) { $0.interval?.upper }),
                    values(arm) { $0.interval?.lower }),
                Plot.Series(name, .line, values(arm, \.value)),
            ]
        }
        let plot = Plot(
            id: "access-plot", title: "Customers with access by days since exposure, in %",
            description: report.sentence + " The table below has the numbers.", labels: rows.map { "day \($0.day)" },
            series: series, isWhole: false)
        let table = rows.map { row in
            Self.row("\(row.day)", Self.cells(row.arms.offered) + Self.cells(row.arms.heldOut))
        }
        let head: [StaticString] = [
            "Day", "Offered: with access", "Customers", "Share", "95 %", "Held out: with access", "Customers", "Share",
            "95 %",
        ]
        return Blocks.section(
            "access", "Access by day",
            """
            \(Self.definition(.access, question))
            \(plot.html)<details><summary>The numbers as a table</summary>
            \(Blocks.table("Numbers of each day", head: head, rows: table, class: "numbers"))\(download(.access))</details>
            """)
    }

    private var funnel: HTML {
        let funnel = report.funnel
        let rows: [HTML] = [
            Self.row("Exposed", [Self.count(funnel.exposed.offered), Self.count(funnel.exposed.heldOut)]),
            Self.row("Erased since", [Self.count(funnel.erased.offered), Self.count(funnel.erased.heldOut)]),
            Self.row("Signed (\(Self.count(funnel.signatures)) signatures)", [Self.count(funnel.signed), ""]),
            Self.row("Shown", [Self.count(funnel.shown), ""]),
            Self.row("Redeemed", [Self.count(funnel.redeemed), Self.count(report.trust.heldOutRedeemers)]),
            Self.row(
                "Kept at full price", ["\(Self.count(funnel.kept.count)) of \(Self.count(funnel.kept.total))", ""]),
            Self.row("Unknown whether kept", [Self.count(funnel.keptUnknown), ""]),
        ]
        let steps = [
            ("exposed", funnel.exposed.offered), ("signed", funnel.signed), ("shown", funnel.shown),
            ("redeemed", funnel.redeemed), ("kept", funnel.kept.count),
        ]
        let plot = Plot(
            id: "funnel-plot", title: "Customers of the arm offered, from exposure to full price",
            description: steps.map { "\(Words.grouped(Int64($1))) \($0)" }.joined(separator: ", ") + ".",
            labels: steps.map(\.0), series: [Plot.Series("customers", .bars, steps.map { Double($1) })])
        return Blocks.section(
            "funnel", "From exposure to full price",
            """
            \(plot.html)
            \(Blocks.table("Funnel", head: ["Customers", "Offered", "Held out"], rows: rows, class: "numbers"))
            \(download(.funnel))
            """)
    }

    private var paid: HTML? {
        guard !report.paid.isEmpty else { return nil }
        let rows = report.paid.map { row in
            Self.row(
                "\(row.currency), day \(row.day)",
                [
                    "\(FixedText.amount(row.arms.offered.mean))", "\(FixedText.amount(row.arms.heldOut.mean))",
                    "\(row.difference.map { FixedText.amount($0.value) } ?? "")", Self.amounts(row.difference?.once),
                    Self.amounts(row.difference?.always), "\(row.sentence)",
                ])
        }
        let head: [StaticString] = [
            "Currency", "Offered", "Held out", "Difference", "95 % if you look once", "At any number of looks",
            "Verdict",
        ]
        return Blocks.section(
            "paid", "Paid per exposed customer",
            """
            \(Self.definition(.paid, question))
            \(Blocks.table("Paid", head: head, rows: rows, class: "numbers"))\(download(.paid))
            """)
    }
}

extension ReportSections {
    /// - Parameter isComplete: false for a row that counts in no total. It is hatched.
    static func row(_ head: HTML, _ cells: [HTML], isComplete: Bool = true) -> HTML {
        "<tr\(hatching(isComplete))><th scope=\"row\">\(head)</th>\(cells.html { "<td>\($0)</td>" })</tr>\n"
    }

    static func hatching(_ isComplete: Bool) -> HTML? { isComplete ? nil : #" class="open""# }

    static func count(_ number: Int) -> HTML { "\(Words.grouped(Int64(number)))" }

    static func share(_ value: Double?) -> HTML { value.map { "\(FixedText.points($0)) %" } ?? "–" }

    static func interval(_ interval: Interval?) -> HTML {
        interval.map { "\(FixedText.points($0.lower)) to \(FixedText.points($0.upper)) %" } ?? "–"
    }

    static func points(_ interval: Interval?) -> HTML {
        interval.map { "\(FixedText.points($0.lower)) to \(FixedText.points($0.upper)) points" } ?? "too few customers"
    }

    static func amounts(_ interval: Interval?) -> HTML {
        interval.map { "\(FixedText.amount($0.lower)) to \(FixedText.amount($0.upper))" } ?? "–"
    }

    /// The count, the total, the share and its interval.
    static func cells(_ share: Share) -> [HTML] {
        [count(share.count), count(share.total), Self.share(share.value), interval(share.interval)]
    }

    static func definition(_ definition: ReportDefinition, _ question: ReportQuestion) -> HTML {
        "<p class=\"note\">\(definition.text(question))</p>"
    }
}
