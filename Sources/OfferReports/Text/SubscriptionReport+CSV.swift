import OfferCore

extension SubscriptionReport {
    /// A part of the report that can be downloaded alone.
    package enum Table: String, CaseIterable, Sendable {
        case now, periods, cohorts, recovery, messages

        /// The names of its lines in the column `table`.
        fileprivate var names: Set<String> {
            switch self {
            case .now, .recovery: [rawValue]
            case .periods: ["period", "period_incomplete", "complete_periods"]
            case .messages: ["retention_messages", "retention_holdout"]
            case .cohorts: ["cohort", "cohort_incomplete", "complete_cohorts"]
            }
        }
    }

    /// The report as CSV (RFC 4180): one number in each line, and for a share its interval and the number of subscriptions. The
    /// first lines, in the table `report`, say what it is about.
    package var csv: [UInt8] { csv(only: nil) }

    /// - Parameter part: nil for all tables.
    package func csv(only part: Table?) -> [UInt8] {
        var table = CSVTable(
            ["table", "by", "name", "start", "after", "number", "value", "lower", "upper", "subscriptions"],
            only: part?.names)
        for (name, text) in [
            ("bundle_id", question.bundleID), ("environment", question.environment),
            ("as_of", String(decoding: question.asOf.iso8601, as: UTF8.self)), ("rules_digest", question.rulesDigest),
            ("span", question.span.rawValue), ("time_zone", question.zone.rawValue),
        ] { table.addSubscriptionText(name, text) }
        for group in groups {
            var lines = GroupLines(group)
            lines.addAll()
            for line in lines.lines { table.add(line) }
        }
        for line in messages.lines { table.add(line) }
        return table.utf8
    }
}

/// The lines of one group.
private struct GroupLines {
    let group: SubscriptionReport.Group
    private(set) var lines: [[String]] = []

    init(_ group: SubscriptionReport.Group) { self.group = group }

    mutating func addAll() {
        addNow()
        for period in group.periods { add(period.isComplete ? "period" : "period_incomplete", period.start, period) }
        add("complete_periods", "", group.total)
        for cohort in group.cohorts {
            add("cohort", cohort.start, "", "size", "\(cohort.size)")
            for (place, cell) in cohort.cells.enumerated() {
                add(place < cohort.complete ? "cohort" : "cohort_incomplete", cohort.start, place + 1, cell)
            }
        }
        for (place, cell) in group.totalCells.enumerated() { add("complete_cohorts", "", place + 1, cell) }
        for (day, share) in zip(SubscriptionQuestion.recoveryDays, group.recovery) {
            add("recovery", "", "\(day)", "recovered", share)
        }
    }

    private mutating func addNow() {
        add("now", "", "", "active", "\(group.now.allActive)")
        for price in PriceKind.allCases { add("now", "", "", "active_\(price.rawValue)", "\(group.now.active(price))") }
        for (name, number) in [
            ("in_grace", group.now.inGrace), ("in_retry", group.now.inRetry),
            ("awaiting_consent", group.now.awaitingConsent),
        ] { add("now", "", "", name, "\(number)") }
        for (from, number) in zip(SubscriptionQuestion.paidDayClasses, group.now.paidDays) {
            add("now", "", "\(from)", "paid_days", "\(number)")
        }
    }

    private mutating func add(_ table: String, _ start: String, _ flow: SubscriptionReport.Flow) {
        for (name, number) in [
            ("new", flow.new), ("resubscribed", flow.resubscribed), ("recovered", flow.recovered),
            ("appeared", flow.appeared), ("moved_in", flow.movedIn), ("moved_out", flow.movedOut),
        ] { add(table, start, "", name, "\(number)") }
        for cause in EndCause.allCases { add(table, start, "", "ended_\(cause.rawValue)", "\(flow.ended(cause))") }
        add(table, start, "", "churn", flow.churn)
    }

    private mutating func add(_ table: String, _ start: String, _ after: Int, _ cell: SubscriptionReport.Cell) {
        add(table, start, "\(after)", "retention", cell.retention)
        add(table, start, "\(after)", "churn", cell.churn)
    }

    private mutating func add(_ table: String, _ start: String, _ after: String, _ number: String, _ share: Share) {
        let values = [share.value, share.interval?.lower, share.interval?.upper].map(CSVTable.share)
        lines.append([table, group.kind.rawValue, group.label, start, after, number] + values + ["\(share.total)"])
    }

    private mutating func add(
        _ table: String, _ start: String, _ after: String, _ number: String, _ value: String
    ) {
        lines.append([table, group.kind.rawValue, group.label, start, after, number, value, "", "", ""])
    }
}

extension SubscriptionReport.Group {
    /// The name for people.
    package var label: String {
        if kind == .all { return "all" }
        return name.map { $0.isEmpty ? "unknown" : $0 } ?? "all others"
    }
}
