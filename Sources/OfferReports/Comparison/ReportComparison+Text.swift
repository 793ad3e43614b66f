import OfferCore

extension ReportComparison {
    /// The number of days that differ, as a sentence.
    package var sentence: String {
        guard let span else { return "Apple's report has no day of the app." }
        let compared = days == 1 ? "The day \(span.first)" : "\(days) days from \(span.first) to \(span.last)"
        let different = Set(differences.map(\.day)).count
        switch different {
        case 0: return "\(compared): no day differs."
        case 1: return "\(compared): 1 day differs."
        default: return "\(compared): \(different) days differ."
        }
    }

    /// A warning against comparing the sums of a fiscal month with those of a calendar month; nil for other days.
    package var caution: String? {
        guard isFiscalMonth, let span else { return nil }
        return
            "\(span.first) to \(span.last) is one of Apple's fiscal months. Do not compare its sums with a calendar month."
    }

    package var csv: [UInt8] {
        var table = CSVTable(["table", "day", "event", "apple", "here", "cause"], only: nil)
        let texts = [
            ("bundle_id", question.bundleID), ("environment", question.environment),
            ("as_of", String(decoding: question.asOf.iso8601, as: UTF8.self)), ("time_zone", question.zone.rawValue),
            ("sentence", sentence), ("caution", caution ?? ""),
        ]
        for (name, text) in texts { table.add(["report", "", name, "", "", text]) }
        for row in differences {
            table.add(["day", row.day, row.event.rawValue, "\(row.apple)", "\(row.here)", row.cause.rawValue])
        }
        for total in totals { table.add(["total", "", total.event.rawValue, "\(total.apple)", "\(total.here)", ""]) }
        for (name, count) in others { table.add(["not_compared", "", name, "\(count)", "", ""]) }
        return table.utf8
    }

    package var json: [UInt8] {
        var writer = JSONWriter()
        writer.member("bundleID", question.bundleID)
        writer.member("environment", question.environment)
        writer.member("asOf", question.asOf.milliseconds)
        writer.member("timeZone", question.zone.rawValue)
        writer.member("sentence", sentence)
        if let caution { writer.member("caution", caution) } else { writer.null("caution") }
        writer.member("days", Int64(days))
        writer.objects("differences", differences) { writer, row in
            writer.member("day", row.day)
            writer.member("event", row.event.rawValue)
            writer.member("apple", Int64(row.apple))
            writer.member("here", Int64(row.here))
            writer.member("cause", row.cause.rawValue)
        }
        writer.objects("totals", totals) { writer, total in
            writer.member("event", total.event.rawValue)
            writer.member("apple", Int64(total.apple))
            writer.member("here", Int64(total.here))
        }
        writer.objects("notCompared", others) { writer, other in
            writer.member("event", other.name)
            writer.member("apple", Int64(other.count))
        }
        writer.member("linesOfOtherApps", Int64(otherApps))
        return writer.finish()
    }
}
