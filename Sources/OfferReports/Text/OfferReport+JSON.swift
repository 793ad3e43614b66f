import OfferCore

extension OfferReport {
    /// The report as JSON. Shares and amounts have six decimals, and amounts are in units of the currency.
    package var json: [UInt8] {
        var writer = JSONWriter()
        writer.object("offer") { writer in
            writer.member("bundleID", question.bundleID)
            writer.member("environment", question.environment)
            writer.member("productID", question.productID)
            writer.member("offerID", question.offerID)
            writer.member("sample", orNull: question.sample)
        }
        writer.member("asOf", question.asOf.milliseconds)
        writer.member("rulesDigest", question.rulesDigest)
        writer.object("settings", writeSettings)
        writer.member("sentence", sentence)
        writer.object("funnel", funnel.write)
        writer.object("effect") { writer in
            writer.member("day", Int64(question.effectDay))
            writer.write(effect.arms)
            writer.write(effect.difference, scale: 1)
            writer.write(effect.verdict)
        }
        writer.objects("access", access) { writer, row in
            writer.member("day", Int64(row.day))
            writer.write(row.arms)
        }
        writer.objects("paid", paid) { $1.write(&$0) }
        writer.objects("engagement", engagement) { $1.write(&$0) }
        writer.object("retention") { writer in
            writer.member("customers", Int64(retention.count))
            writer.objects("byDay", retention.byDay) { $1.write(&$0, "day") }
            writer.objects("byRenewal", retention.byRenewal) { $1.write(&$0, "renewal") }
        }
        writer.objects("churn", churn) { writer, row in
            writer.member("start", row.start)
            writer.member("complete", row.isComplete)
            writer.write("ended", row.ended)
            writer.member("resubscribed", Int64(row.resubscribed))
        }
        writer.objects("cohorts", cohorts) { writer, cohort in
            writer.member("start", cohort.start)
            writer.member("conversionComplete", cohort.isConversionComplete)
            writer.member("accessComplete", cohort.isAccessComplete)
            cohort.outcomes.write(&writer, question)
        }
        writer.object("completeCohorts") { total.write(&$0, question) }
        writer.objects("groups", groups) { writer, group in
            writer.member("by", group.kind.rawValue)
            writer.member("name", group.name)
            group.outcomes.write(&writer, question)
        }
        writer.object("trust", trust.write)
        writer.object("definitions") { writer in
            for definition in ReportDefinition.allCases {
                writer.member(definition.rawValue, definition.text(question))
            }
        }
        return writer.finish()
    }

    private func writeSettings(_ writer: inout JSONWriter) {
        writer.member("effectDay", Int64(question.effectDay))
        writer.member("conversionDays", Int64(question.conversionDays))
        writer.member("horizonDays", Int64(question.horizon))
        writer.number("smallestEffect", question.smallestEffect)
        writer.number("expectedAccess", question.expectedAccess)
        writer.number("plannedShare", question.plannedShare)
        writer.member("cohorts", question.span.rawValue)
        writer.member("timeZone", question.zone.rawValue)
    }
}

extension OfferReport.Funnel {
    fileprivate func write(_ writer: inout JSONWriter) {
        writer.write("exposed", exposed)
        writer.write("erased", erased)
        writer.member("signed", Int64(signed))
        writer.member("signatures", Int64(signatures))
        writer.member("shown", Int64(shown))
        writer.member("redeemed", Int64(redeemed))
        writer.write("kept", kept)
        writer.member("keptUnknown", Int64(keptUnknown))
    }
}

extension OfferReport.Paid {
    fileprivate func write(_ writer: inout JSONWriter) {
        writer.member("currency", currency)
        writer.member("day", Int64(day))
        writer.write(arms)
        writer.write(difference, scale: 1000)
        writer.write(verdict)
        writer.member("sentence", sentence)
    }
}

extension Engagement {
    fileprivate func write(_ writer: inout JSONWriter) {
        writer.member("fact", fact)
        writer.write(arms)
        writer.write(difference, scale: 1)
        if let numbers {
            writer.object("numbers") { writer in
                writer.write(numbers.mean)
                writer.write(numbers.meanDifference, scale: 1000)
            }
            writer.object("change") { writer in
                writer.write(numbers.change)
                writer.write(numbers.changeDifference, scale: 1000)
            }
        } else {
            writer.null("numbers")
            writer.null("change")
        }
        writer.objects("cohorts", cohorts) { writer, cohort in
            writer.member("start", cohort.start)
            writer.member("complete", cohort.isComplete)
            writer.write(cohort.arms)
            guard let mean = cohort.mean else { return writer.null("numbers") }
            writer.object("numbers") { $0.write(mean) }
        }
    }
}

extension OfferReport.Retention.Row {
    fileprivate func write(_ writer: inout JSONWriter, _ name: String) {
        writer.member(name, Int64(place))
        writer.member("atRisk", Int64(atRisk))
        writer.object("kept") { $0.write(kept) }
        writer.object("ended") { writer in
            for cause in EndCause.allCases {
                guard let point = ended[cause] else { continue }
                writer.object(cause.rawValue) { $0.write(point) }
            }
        }
    }
}

extension OfferReport.Outcomes {
    fileprivate func write(_ writer: inout JSONWriter, _ question: ReportQuestion) {
        writer.write("exposed", exposed)
        writer.object("conversion") { writer in
            writer.write(converted)
        }
        writer.object("access") { writer in
            writer.write(access)
            writer.write(access.difference(plannedSize: question.plannedSize), scale: 1)
        }
    }
}

extension Trust {
    fileprivate func write(_ writer: inout JSONWriter) {
        writer.member("broken", isBroken)
        writer.write(split)
        writer.objects("weeks", weeks) { writer, week in
            writer.member("start", week.start)
            writer.write("exposed", week.arms)
            writer.write(week.split)
        }
        writer.member("heldOutRedeemers", Int64(heldOutRedeemers))
        writer.member("rules", Int64(rules))
        writer.member("plannedSize", Int64(plannedSize))
        writer.member("needed", orNull: needed.map(Int64.init))
    }
}

extension JSONWriter {
    mutating func number(_ name: String, _ value: Double?) {
        rawValue(name, Array((value.map { FixedText.number($0, decimals: 6) } ?? "null").utf8))
    }

    fileprivate mutating func member(_ name: String, orNull text: String?) {
        if let text { member(name, text) } else { null(name) }
    }

    fileprivate mutating func member(_ name: String, orNull number: Int64?) {
        if let number { member(name, number) } else { null(name) }
    }

    fileprivate mutating func write(_ name: String, _ interval: Interval?, scale: Double = 1) {
        guard let interval else { return null(name) }
        object(name) { writer in
            writer.number("lower", interval.lower / scale)
            writer.number("upper", interval.upper / scale)
        }
    }

    mutating func write(_ name: String, _ share: Share) {
        object(name) { writer in
            writer.member("count", Int64(share.count))
            writer.member("customers", Int64(share.total))
            writer.number("share", share.value)
            writer.write("interval", share.interval)
        }
    }

    fileprivate mutating func write(_ arms: ByArm<Share>) {
        write("offered", arms.offered)
        write("heldOut", arms.heldOut)
    }

    /// Writes means of thousandths.
    fileprivate mutating func write(_ arms: ByArm<SampleMoments>) {
        for (name, sample) in [("offered", arms.offered), ("heldOut", arms.heldOut)] {
            object(name) { writer in
                writer.member("customers", Int64(sample.count))
                writer.number("mean", sample.count > 0 ? sample.mean / 1000 : nil)
            }
        }
    }

    fileprivate mutating func write(_ name: String, _ arms: ByArm<Int>) {
        object(name) { writer in
            writer.member("offered", Int64(arms.offered))
            writer.member("heldOut", Int64(arms.heldOut))
        }
    }

    fileprivate mutating func write(_ point: CurvePoint) {
        number("share", point.value)
        write("interval", point.interval)
    }

    mutating func write(_ difference: Difference?, scale: Double) {
        guard let difference else { return null("difference") }
        object("difference") { writer in
            writer.number("value", difference.value / scale)
            writer.write("once", difference.once, scale: scale)
            writer.write("always", difference.always, scale: scale)
        }
    }

    fileprivate mutating func write(_ verdict: Verdict) {
        member("verdict", verdict.name)
        if case .notClear(let more) = verdict { member("moreCustomers", orNull: more.map(Int64.init)) }
    }

    mutating func write(_ split: SplitTest?) {
        guard let split else { return null("split") }
        object("split") { writer in
            writer.number("planned", split.planned)
            writer.number("share", split.share.value)
            writer.number("probability", split.probability)
        }
    }
}
