import OfferReports

extension SubscriptionReportSections {
    /// The retention messages, which belong to all subscriptions together.
    var messages: HTML? {
        let messages = report.messages
        guard group.kind == .all, messages.requests > 0 else { return nil }
        let all = Self.row("All", "", messages.requests, messages.shown, messages.all)
        let rows = messages.cases.map { row in
            let place: HTML = row.number.map { "Case \($0)" } ?? "No case"
            return Self.row(
                "\(place): \(UserText.text(row.answer))", row.rule.isEmpty ? "–" : UserText.text(row.rule),
                row.requests, row.shown, row.outcomes)
        }
        return Blocks.section(
            "messages", "Retention messages",
            """
            \(Self.definition(.requested))\(Self.definition(.cancelledAtOnce))\(Self.definition(.stayed))
            \(Blocks.table("Retention messages by case", head: Self.caseHead, rows: [all] + rows, class: "numbers"))
            \(holdouts)\(download(.messages))
            """)
    }

    private static let caseHead: [StaticString] = [
        "Answered by", "Rule", "Requested", "Shown", "Subscriptions", "Turned off within a day", "95 %", "Stayed",
        "95 %",
    ]

    private static func row(
        _ name: HTML, _ rule: HTML, _ requests: Int, _ shown: Int, _ outcomes: RetentionMessages.Outcomes
    ) -> HTML {
        ReportSections.row(
            name,
            [
                rule, ReportSections.count(requests), ReportSections.count(shown),
                ReportSections.count(outcomes.subscriptions),
            ] + cells(outcomes.cancelled) + cells(outcomes.stayed))
    }

    private static func cells(_ share: Share) -> [HTML] {
        [ReportSections.share(share.value), ReportSections.interval(share.interval)]
    }

    private var holdouts: HTML? {
        guard !report.messages.holdouts.isEmpty else { return nil }
        let rows = report.messages.holdouts.flatMap { row in
            let name: HTML = "\(UserText.text(row.offerID)), sample \(UserText.text(row.sample))"
            return [
                Self.row("\(name): turned off within a day", row.cancelled, row.cancelledDifference),
                Self.row("\(name): stayed", row.stayed, row.stayedDifference),
            ]
        }
        let head: [StaticString] = [
            "Offer", "Offered", "Held out", "Offered: share", "Held out: share", "Difference", "95 % if you look once",
            "At any number of looks",
        ]
        return """
            <h3>Against the holdout</h3>
            \(Blocks.table("Retention messages against the holdout", head: head, rows: rows, class: "numbers"))
            \(report.messages.holdouts.html(trust))
            """
    }

    private func trust(_ row: RetentionMessages.Holdout) -> HTML {
        let name: HTML = "\(UserText.text(row.offerID)), sample \(UserText.text(row.sample))"
        guard let split = row.split else {
            return "<p class=\"note\">\(name): the planned split is unknown, because the rules no longer name it.</p>"
        }
        let found: HTML = """
            Planned: \(ReportSections.share(split.planned)) offered. Found: \(ReportSections.share(split.share.value)). The \
            probability of such a split is \(FixedText.number(split.probability, decimals: 4)).
            """
        guard split.isBroken else { return "<p class=\"note\">\(name): \(found)</p>" }
        return Blocks.notice(
            .warning, "\(name): not divided as the rule says", "<p>\(found) So no differences are shown.</p>")
    }

    private static func row(_ name: HTML, _ arms: ByArm<Share>, _ difference: Difference?) -> HTML {
        ReportSections.row(
            name,
            [
                ReportSections.count(arms.offered.total), ReportSections.count(arms.heldOut.total),
                ReportSections.share(arms.offered.value), ReportSections.share(arms.heldOut.value),
                difference.map { "\(FixedText.points($0.value)) points" } ?? "–",
                ReportSections.points(difference?.once), ReportSections.points(difference?.always),
            ])
    }
}
