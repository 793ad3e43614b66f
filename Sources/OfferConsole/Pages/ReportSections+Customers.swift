import OfferCore
import OfferReports

extension ReportSections {
    var retention: HTML? {
        let rows = report.retention.byDay
        guard !rows.isEmpty else { return nil }
        func percent(_ value: Double?) -> Double? { value.map { $0 * 100 } }
        let plot = Plot(
            id: "retention-plot", title: "Redeemers who still have access by days since redemption, in %",
            description: "Kaplan-Meier with a band of 95 %. The table below has the numbers.",
            labels: rows.map { "day \($0.place)" },
            series: [
                Plot.Series(
                    "95 %", .band(upper: rows.map { percent($0.kept.interval?.upper) }),
                    rows.map { percent($0.kept.interval?.lower) }),
                Plot.Series("with access", .line, rows.map { percent($0.kept.value) }),
            ], isWhole: false)
        return Blocks.section(
            "retention", "Retention of redeemers", count: report.retention.count,
            """
            \(Self.definition(.retention, question))\(Self.definition(.churn, question))
            \(plot.html)\(Self.table("Retention by day", "Day", rows))
            \(Self.table("Retention by renewals", "Renewals", report.retention.byRenewal))
            \(download(.retention))
            """)
    }

    private static func table(
        _ name: StaticString, _ place: StaticString, _ rows: [OfferReport.Retention.Row]
    ) -> HTML? {
        guard !rows.isEmpty else { return nil }
        let head: [StaticString] = [
            place, "At risk", "Kept", "95 %", "Cancelled", "Billing", "Refunded", "Price", "Other",
        ]
        let rows = rows.map { row in
            let causes = EndCause.allCases.map { share(row.ended[$0]?.value ?? 0) }
            return Self.row(
                "\(row.place)", [count(row.atRisk), share(row.kept.value), interval(row.kept.interval)] + causes)
        }
        return Blocks.table(name, head: head, rows: rows, class: "numbers")
    }

    var churn: HTML? {
        guard !report.churn.isEmpty else { return nil }
        let rows = report.churn.reversed().map { row in
            Self.row(
                "\(row.start)\(Self.mark(row.isComplete))", Self.cells(row.ended) + [Self.count(row.resubscribed)],
                isComplete: row.isComplete)
        }
        let head: [StaticString] = ["From", "Ended", "With access at the start", "Share", "95 %", "Came back"]
        return Blocks.section(
            "churn", "Churn of redeemers",
            """
            \(Self.definition(.periodChurn, question))
            \(Blocks.table("Churn", head: head, rows: rows, class: "numbers"))\(download(.churn))
            """)
    }

    private static func mark(_ isComplete: Bool) -> HTML? { isComplete ? nil : " (not complete yet)" }

    var cohorts: HTML? {
        let cohorts = report.cohorts
        guard !cohorts.isEmpty else { return nil }
        let plot = Plot(
            id: "cohort-plot", title: "Conversion within \(question.conversionDays) days by cohort, in %",
            description: "Customers of the arm offered, by the first day of their cohort. The table has the numbers.",
            labels: cohorts.map(\.start),
            series: [
                Plot.Series("converted", .bars, cohorts.map { $0.outcomes.converted.offered.value.map { $0 * 100 } })
            ], incomplete: cohorts.reversed().prefix { !$0.isConversionComplete }.count, isWhole: false)
        var rows = cohorts.reversed().map { cohort in
            Self.row(
                "\(cohort.start)",
                cells(cohort.outcomes, cohort.isConversionComplete, cohort.isAccessComplete),
                isComplete: cohort.isConversionComplete && cohort.isAccessComplete)
        }
        rows.insert(Self.row("All complete cohorts", cells(report.total, true, true)), at: 0)
        return Blocks.section(
            "cohorts", "Cohorts",
            """
            \(Self.definition(.conversion, question))
            \(plot.html)\(Blocks.table("Numbers of each cohort", head: ["From"] + Self.outcomeHead, rows: rows, class: "numbers"))
            \(download(.cohorts))
            """)
    }

    private static let outcomeHead: [StaticString] = [
        "Offered", "Held out", "Converted", "Access offered", "Access held out", "Difference", "At any number of looks",
    ]

    private func cells(_ outcomes: OfferReport.Outcomes, _ hasConversion: Bool, _ hasAccess: Bool) -> [HTML] {
        let difference = outcomes.access.difference(plannedSize: question.plannedSize)
        return [
            Self.count(outcomes.exposed.offered), Self.count(outcomes.exposed.heldOut),
            "\(Self.share(outcomes.converted.offered.value))\(Self.mark(hasConversion))",
            "\(Self.share(outcomes.access.offered.value))\(Self.mark(hasAccess))",
            Self.share(outcomes.access.heldOut.value),
            difference.map { "\(FixedText.points($0.value)) points" } ?? "–",
            difference?.always.map { Self.points($0) } ?? "–",
        ]
    }

    var groups: HTML? {
        guard !report.groups.isEmpty else { return nil }
        let rows = report.groups.map { group in
            let name: HTML = group.name.isEmpty ? "unknown or none" : UserText.text(group.name)
            return Self.row("\(group.kind.rawValue): \(name)", cells(group.outcomes, true, true))
        }
        return Blocks.section(
            "groups", "By channel, rule and storefront",
            """
            <p class="note">Only complete cohorts count.</p>
            \(Blocks.table("Groups", head: ["Group"] + Self.outcomeHead, rows: rows, class: "numbers"))
            \(download(.groups))
            """)
    }

    var trust: HTML {
        let trust = report.trust
        let split: HTML =
            trust.split.map { split in
                """
                <p>Planned: \(Self.share(split.planned)) offered. Found: \(Self.share(split.share.value)). The probability \
                of such a split is \(FixedText.number(split.probability, decimals: 4)).</p>
                """
            } ?? "<p>The planned split is unknown.</p>"
        let rows = trust.weeks.map { week in
            Self.row(
                "\(week.start)",
                [
                    Self.count(week.arms.offered), Self.count(week.arms.heldOut),
                    week.split.map { "\(FixedText.number($0.probability, decimals: 4))" } ?? "–",
                ])
        }
        let needed: HTML = trust.needed.map { Self.count($0) } ?? "not known yet"
        return Blocks.section(
            "trust", "Can this be believed?",
            """
            \(Self.definition(.split, question))\(split)
            <p>Needed customers to see \(FixedText.points(question.smallestEffect)) points: \(needed). The always-valid \
            interval is tuned to \(Self.count(trust.plannedSize)). Versions of the configuration: \(Self.count(trust.rules)).</p>
            \(Blocks.table("Arms by week", head: ["Week from", "Offered", "Held out", "Probability"], rows: rows, class: "numbers"))
            \(download(.trust))
            """)
    }

    var definitions: HTML {
        let items = ReportDefinition.allCases.html { definition in
            "<dt>\(definition.rawValue.replacing("_", with: " "))</dt><dd>\(definition.text(question))</dd>"
        }
        return Blocks.section("definitions", "What the numbers mean", #"<dl class="pairs">\#(items)</dl>"#)
    }
}
