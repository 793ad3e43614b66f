import OfferCore

extension OfferReport {
    /// A part of the report that can be downloaded alone.
    package enum Table: String, CaseIterable, Sendable {
        case effect, access, funnel, paid, engagement, retention, churn, cohorts, groups, trust

        /// The names of its lines in the column `table`.
        fileprivate var names: Set<String> {
            switch self {
            case .effect, .access, .funnel, .paid: [rawValue]
            case .engagement: ["engagement", "engagement_cohort"]
            case .retention: ["retention_day", "retention_renewal"]
            case .churn: ["churn", "churn_incomplete"]
            case .cohorts: ["cohort", "complete_cohorts"]
            case .groups: Set(Group.Kind.allCases.map(\.rawValue))
            case .trust: ["trust", "trust_week"]
            }
        }
    }

    /// The report as CSV (RFC 4180): one number in each line, with its interval and its customers. The first lines, in the table
    /// `report`, say what it is about.
    package var csv: [UInt8] { csv(only: nil) }

    /// - Parameter part: nil for all tables.
    package func csv(only part: Table?) -> [UInt8] {
        var table = CSVTable(
            ["table", "row", "arm", "number", "value", "lower", "upper", "customers"], only: part?.names)
        addQuestion(to: &table)
        addFunnel(to: &table)
        table.add("effect", "\(question.effectDay)", effect.arms, "access")
        table.add("effect", "\(question.effectDay)", effect.difference, "access", scale: 1)
        for row in access { table.add("access", "\(row.day)", row.arms, "access") }
        for row in paid {
            let place = "\(row.currency) \(row.day)"
            table.add("paid", place, row.arms, "mean")
            table.add("paid", place, row.difference, "mean", scale: 1000)
        }
        for row in engagement { row.add(to: &table) }
        for (name, rows) in [("retention_day", retention.byDay), ("retention_renewal", retention.byRenewal)] {
            for row in rows {
                table.add(name, "\(row.place)", "kept", row.kept, row.atRisk)
                for cause in EndCause.allCases {
                    if let point = row.ended[cause] {
                        table.add(name, "\(row.place)", cause.rawValue, point, row.atRisk)
                    }
                }
            }
        }
        for row in churn {
            let name = row.isComplete ? "churn" : "churn_incomplete"
            table.add(name, row.start, "offered", "ended", row.ended)
            table.add([name, row.start, "offered", "resubscribed", "\(row.resubscribed)", "", "", ""])
        }
        for cohort in cohorts {
            add(
                "cohort", cohort.start, cohort.outcomes, cohort.isConversionComplete, cohort.isAccessComplete,
                to: &table)
        }
        add("complete_cohorts", "", total, true, true, to: &table)
        for group in groups { add(group.kind.rawValue, group.name, group.outcomes, true, true, to: &table) }
        addTrust(to: &table)
        return table.utf8
    }

    private func addQuestion(to table: inout CSVTable) {
        let texts = [
            ("bundle_id", question.bundleID), ("environment", question.environment), ("product_id", question.productID),
            ("offer_id", question.offerID), ("sample", question.sample ?? ""),
            ("as_of", String(decoding: question.asOf.iso8601, as: UTF8.self)), ("rules_digest", question.rulesDigest),
            ("cohorts", question.span.rawValue), ("time_zone", question.zone.rawValue),
            ("verdict", effect.verdict.name), ("sentence", sentence),
        ]
        for (name, text) in texts { table.addText(name, text) }
    }

    private func addTrust(to table: inout CSVTable) {
        for week in trust.weeks {
            table.add("trust_week", week.start, week.arms, "exposed")
            table.add("trust_week", week.start, "split", week.split?.probability)
        }
        table.add("trust", "", "split", trust.split?.probability)
        table.add("trust", "", "planned_share", question.plannedShare)
        let counts = [
            ("held_out_redeemers", trust.heldOutRedeemers), ("rules", trust.rules), ("planned_size", trust.plannedSize),
        ]
        for (name, count) in counts + (trust.needed.map { [("needed", $0)] } ?? []) {
            table.add(["trust", "", "", name, "\(count)", "", "", ""])
        }
    }

    private func addFunnel(to table: inout CSVTable) {
        table.add("funnel", "", funnel.exposed, "exposed")
        table.add("funnel", "", funnel.erased, "erased")
        let counts = [
            ("signed", funnel.signed), ("signatures", funnel.signatures), ("shown", funnel.shown),
            ("redeemed", funnel.redeemed), ("kept_unknown", funnel.keptUnknown),
        ]
        for (name, count) in counts { table.add(["funnel", "", "offered", name, "\(count)", "", "", ""]) }
        table.add("funnel", "", "offered", "kept", funnel.kept)
    }

    private func add(
        _ name: String, _ row: String, _ outcomes: Outcomes, _ isConversionComplete: Bool, _ isAccessComplete: Bool,
        to table: inout CSVTable
    ) {
        table.add(name, row, outcomes.exposed, "exposed")
        table.add(name, row, outcomes.converted, isConversionComplete ? "conversion" : "conversion_incomplete")
        table.add(name, row, outcomes.access, isAccessComplete ? "access" : "access_incomplete")
    }
}

extension Engagement {
    fileprivate func add(to table: inout CSVTable) {
        table.add("engagement", fact, arms, "with_fact")
        table.add("engagement", fact, difference, "with_fact", scale: 1)
        if let numbers {
            table.add("engagement", fact, numbers.mean, "mean")
            table.add("engagement", fact, numbers.meanDifference, "mean", scale: 1000)
            table.add("engagement", fact, numbers.change, "change")
            table.add("engagement", fact, numbers.changeDifference, "change", scale: 1000)
        }
        for cohort in cohorts {
            let (row, suffix) = ("\(cohort.start) \(fact)", cohort.isComplete ? "" : "_incomplete")
            table.add("engagement_cohort", row, cohort.arms, "with_fact\(suffix)")
            if let mean = cohort.mean { table.add("engagement_cohort", row, mean, "mean\(suffix)") }
        }
    }
}

struct CSVTable {
    private(set) var utf8: [UInt8] = []
    /// The tables whose lines are added; nil for all.
    private let names: Set<String>?

    init(_ head: [String], only names: Set<String>?) {
        self.names = names
        write(head)
    }

    mutating func add(_ cells: [String]) {
        if names?.contains(cells[0]) ?? true { write(cells) }
    }

    /// Adds a line that is in every file, whatever its table.
    mutating func addText(_ name: String, _ text: String) { write(["report", text, "", name, "", "", "", ""]) }

    /// Adds the same line to a table with the columns of reports about subscriptions.
    mutating func addSubscriptionText(_ name: String, _ text: String) {
        write(["report", "", text, "", "", name, "", "", "", ""])
    }

    mutating func add(_ name: String, _ row: String, _ number: String, _ value: Double?) {
        if let value { add([name, row, "", number, FixedText.number(value, decimals: 6), "", "", ""]) }
    }

    private mutating func write(_ cells: [String]) {
        utf8 += cells.map(Self.cell).joined(separator: ",").utf8
        utf8 += "\r\n".utf8
    }

    /// A spreadsheet program would run a text that begins like a formula. An apostrophe marks it as text.
    private static func cell(_ text: String) -> String {
        let isNumber = text.first == "-" && Double(text) != nil
        let isFormula = text.first.map { "=+-@\t\r".contains($0) } ?? false
        let safe = isFormula && !isNumber ? "'" + text : text
        guard safe.contains(where: { ",\"\r\n".contains($0) }) else { return safe }
        return "\"" + safe.replacing("\"", with: "\"\"") + "\""
    }

    mutating func add(_ name: String, _ row: String, _ arm: String, _ number: String, _ share: Share) {
        let values = [share.value, share.interval?.lower, share.interval?.upper].map(Self.share)
        add([name, row, arm, number] + values + ["\(share.total)"])
    }

    mutating func add(_ name: String, _ row: String, _ arms: ByArm<Share>, _ number: String) {
        add(name, row, "offered", number, arms.offered)
        add(name, row, "held_out", number, arms.heldOut)
    }

    /// Adds means of thousandths.
    mutating func add(_ name: String, _ row: String, _ arms: ByArm<SampleMoments>, _ number: String) {
        for (arm, sample) in [("offered", arms.offered), ("held_out", arms.heldOut)] {
            let mean = FixedText.number(sample.mean / 1000, decimals: 6)
            add([name, row, arm, number, mean, "", "", "\(sample.count)"])
        }
    }

    mutating func add(_ name: String, _ row: String, _ arms: ByArm<Int>, _ number: String) {
        add([name, row, "offered", number, "\(arms.offered)", "", "", ""])
        add([name, row, "held_out", number, "\(arms.heldOut)", "", "", ""])
    }

    mutating func add(_ name: String, _ row: String, _ number: String, _ point: CurvePoint, _ atRisk: Int) {
        let values = [point.value, point.interval?.lower, point.interval?.upper].map(Self.share)
        add([name, row, "offered", number] + values + ["\(atRisk)"])
    }

    /// - Parameter scale: the number by which values are divided.
    mutating func add(
        _ name: String, _ row: String, _ difference: Difference?, _ number: String, scale: Double
    ) {
        guard let difference else { return }
        for (kind, interval) in [("difference_once", difference.once), ("difference_always", difference.always)] {
            let values = [difference.value, interval?.lower, interval?.upper].map { value in
                value.map { FixedText.number($0 / scale, decimals: 6) } ?? ""
            }
            add([name, row, kind, number] + values + [""])
        }
    }

    static func share(_ value: Double?) -> String { value.map { FixedText.number($0, decimals: 6) } ?? "" }
}
