import OfferCore

extension SubscriptionReport {
    /// The report as JSON. Shares have six decimals.
    package var json: [UInt8] {
        var writer = JSONWriter()
        writer.member("bundleID", question.bundleID)
        writer.member("environment", question.environment)
        writer.member("asOf", question.asOf.milliseconds)
        writer.member("rulesDigest", question.rulesDigest)
        writer.member("span", question.span.rawValue)
        writer.member("timeZone", question.zone.rawValue)
        writer.objects("groups", groups) { $1.write(&$0) }
        writer.object("retentionMessages", messages.write)
        writer.object("definitions") { writer in
            for definition in SubscriptionDefinition.allCases { writer.member(definition.rawValue, definition.text) }
        }
        return writer.finish()
    }
}

extension SubscriptionReport.Group {
    fileprivate func write(_ writer: inout JSONWriter) {
        writer.member("by", kind.rawValue)
        if let name { writer.member("name", name) } else { writer.null("name") }
        writer.object("now", now.write)
        writer.objects("periods", periods) { writer, period in
            writer.member("start", period.start)
            writer.member("complete", period.isComplete)
            period.write(&writer)
        }
        writer.object("completePeriods", total.write)
        writer.objects("cohorts", cohorts) { writer, cohort in
            writer.member("start", cohort.start)
            writer.member("size", Int64(cohort.size))
            writer.objects("cells", Array(cohort.cells.enumerated())) { writer, cell in
                cell.element.write(&writer, after: cell.offset + 1)
                writer.member("complete", cell.offset < cohort.complete)
            }
        }
        writer.objects("completeCohorts", Array(totalCells.enumerated())) { writer, cell in
            cell.element.write(&writer, after: cell.offset + 1)
        }
        writer.objects("recovery", Array(zip(SubscriptionQuestion.recoveryDays, recovery))) { writer, row in
            writer.member("day", Int64(row.0))
            writer.write("recovered", row.1)
        }
    }
}

extension SubscriptionReport.Standing {
    fileprivate func write(_ writer: inout JSONWriter) {
        writer.member("active", Int64(allActive))
        writer.object("byPrice") { writer in
            for price in PriceKind.allCases { writer.member(price.rawValue, Int64(active(price))) }
        }
        writer.member("inGrace", Int64(inGrace))
        writer.member("inRetry", Int64(inRetry))
        writer.member("awaitingConsent", Int64(awaitingConsent))
        writer.objects("paidDays", Array(zip(SubscriptionQuestion.paidDayClasses, paidDays))) { writer, row in
            writer.member("from", row.0)
            writer.member("subscriptions", Int64(row.1))
        }
    }
}

extension SubscriptionReport.Flow {
    fileprivate func write(_ writer: inout JSONWriter) {
        for (name, number) in [
            ("new", new), ("resubscribed", resubscribed), ("recovered", recovered), ("appeared", appeared),
            ("movedIn", movedIn), ("movedOut", movedOut),
        ] { writer.member(name, Int64(number)) }
        writer.object("ended") { writer in
            for cause in EndCause.allCases { writer.member(cause.rawValue, Int64(ended(cause))) }
        }
        writer.write("churn", churn)
    }
}

extension SubscriptionReport.Cell {
    fileprivate func write(_ writer: inout JSONWriter, after count: Int) {
        writer.member("after", Int64(count))
        writer.write("retention", retention)
        writer.write("churn", churn)
    }
}
