import OfferCore

extension RetentionMessages {
    func write(_ writer: inout JSONWriter) {
        writer.member("requests", Int64(requests))
        writer.member("shown", Int64(shown))
        writer.object("all", all.write)
        writer.objects("cases", cases) { writer, row in
            if let number = row.number { writer.member("case", number) } else { writer.null("case") }
            writer.member("answer", row.answer)
            writer.member("rule", row.rule)
            writer.member("requests", Int64(row.requests))
            writer.member("shown", Int64(row.shown))
            row.outcomes.write(&writer)
        }
        writer.objects("holdouts", holdouts) { writer, row in
            writer.member("productID", row.productID)
            writer.member("offerID", row.offerID)
            writer.member("sample", row.sample)
            writer.number("plannedShare", row.plannedShare)
            writer.member("broken", row.split?.isBroken ?? false)
            writer.write(row.split)
            writer.object("offered", row.arms.offered.write)
            writer.object("heldOut", row.arms.heldOut.write)
            writer.object("cancelled") { $0.write(row.cancelledDifference, scale: 1) }
            writer.object("stayed") { $0.write(row.stayedDifference, scale: 1) }
        }
    }

    /// The lines of CSV, with the columns of the report about subscriptions.
    var lines: [[String]] {
        guard requests > 0 else { return [] }
        var lines = Self.lines("all", "", requests, shown, all)
        for row in cases {
            let place = row.number.map { "case \($0)" } ?? "no case"
            lines += Self.lines("\(place) \(row.answer)", row.rule, row.requests, row.shown, row.outcomes)
        }
        for row in holdouts {
            let name = "\(row.productID) \(row.offerID) \(row.sample)"
            for (arm, outcomes) in [("offered", row.arms.offered), ("held_out", row.arms.heldOut)] {
                lines.append(Self.line("retention_holdout", arm, name, "subscriptions", "\(outcomes.subscriptions)"))
                lines += Self.lines("retention_holdout", arm, name, outcomes)
            }
            for (number, value) in [("planned_share", row.plannedShare), ("split", row.split?.probability)] {
                guard let value else { continue }
                lines.append(Self.line("retention_holdout", "trust", name, number, CSVTable.share(value)))
            }
            for (number, difference) in [
                ("cancelled_at_once", row.cancelledDifference), ("stayed", row.stayedDifference),
            ] {
                guard let difference else { continue }
                for (kind, interval) in [
                    ("difference_once", difference.once), ("difference_always", difference.always),
                ] {
                    let values = [difference.value, interval?.lower, interval?.upper].map(CSVTable.share)
                    lines.append(["retention_holdout", kind, name, "", "", number] + values + [""])
                }
            }
        }
        return lines
    }

    private static func lines(
        _ by: String, _ name: String, _ requests: Int, _ shown: Int, _ outcomes: Outcomes
    ) -> [[String]] {
        [
            line("retention_messages", by, name, "requests", "\(requests)"),
            line("retention_messages", by, name, "shown", "\(shown)"),
            line("retention_messages", by, name, "subscriptions", "\(outcomes.subscriptions)"),
        ] + lines("retention_messages", by, name, outcomes)
    }

    private static func lines(_ table: String, _ by: String, _ name: String, _ outcomes: Outcomes) -> [[String]] {
        [("cancelled_at_once", outcomes.cancelled), ("stayed", outcomes.stayed)].map { number, share in
            let values = [share.value, share.interval?.lower, share.interval?.upper].map(CSVTable.share)
            return [table, by, name, "", "", number] + values + ["\(share.total)"]
        }
    }

    private static func line(
        _ table: String, _ by: String, _ name: String, _ number: String, _ value: String
    ) -> [String] {
        [table, by, name, "", "", number, value, "", "", ""]
    }
}

extension RetentionMessages.Outcomes {
    fileprivate func write(_ writer: inout JSONWriter) {
        writer.member("subscriptions", Int64(subscriptions))
        writer.write("cancelledAtOnce", cancelled)
        writer.write("stayed", stayed)
    }
}
