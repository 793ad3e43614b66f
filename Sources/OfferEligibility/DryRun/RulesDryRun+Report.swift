import OfferCore

extension RulesDryRun {
    /// The offers, in report order.
    private var sorted: [(offer: Offer, outcome: Outcome)] {
        outcomes.sorted { one, other in
            func name(_ offer: Offer) -> [String] {
                [
                    offer.app.bundleID.text.description, offer.app.environment.rawValue,
                    offer.productID.text.description, offer.offerID.text.description,
                ]
            }
            return name(one.key).lexicographicallyPrecedes(name(other.key))
        }.map { (offer: $0.key, outcome: $0.value) }
    }

    /// The customers that are not counted. They have no subscription, so they get no offer.
    private static let omission = "those known only from your team's facts are not counted"

    /// A report for people. For each offer, it shows the results of both sets of rules and the customers whose decision
    /// changes.
    package var text: String {
        var text = "\(customers) customers with purchases (\(Self.omission))\n"
        for (offer, outcome) in sorted {
            text += "\n\(offer.app.bundleID.text) \(offer.app.environment.rawValue) "
            text += "\(offer.productID.text) \(offer.offerID.text)\n"
            text += "  in force: \(Outcome.text(outcome.inForce, rule: outcome.ruleInForce))\n"
            text += "  new:      \(Outcome.text(outcome.new, rule: outcome.newRule))\n"
            text += outcome.gained.text("would get it") + outcome.lost.text("would no longer get it")
        }
        return text
    }

    /// CSV with one line for each offer and reason. It compares the number of customers under the current and the new
    /// rules. A customer counts once for each reason. The line `eligible` counts the eligible customers, and names
    /// some customers whose decision changes.
    package var csv: String {
        var table = CSV(head: [
            "bundleID", "environment", "productID", "offerID", "ruleInForce", "newRule", "reason", "inForce", "new",
            "gained", "lost", "gainedSample", "lostSample",
        ])
        for (offer, outcome) in sorted {
            let names = [
                CSV.Cell(offer.app.bundleID.text.description), CSV.Cell(offer.app.environment.rawValue),
                CSV.Cell(offer.productID.text.description), CSV.Cell(offer.offerID.text.description),
                CSV.Cell(outcome.ruleInForce), CSV.Cell(outcome.newRule),
            ]
            for code in outcome.codes {
                let counts = [outcome.inForce[code] ?? 0, outcome.new[code] ?? 0].map { CSV.Cell.number(Int64($0)) }
                let changes = [outcome.gained, outcome.lost]
                let ofChanges: [CSV.Cell] =
                    code == nil
                    ? changes.map { .number(Int64($0.count)) } + changes.map { CSV.Cell($0.sampleText) }
                    : [.empty, .empty, .empty, .empty]
                table.add(names + [CSV.Cell(code?.rawValue ?? "eligible")] + counts + ofChanges)
            }
        }
        return table.text
    }

    /// The complete result, with a sample of customers for each change.
    package var json: [UInt8] {
        var writer = JSONWriter()
        writer.member("customers", Int64(customers))
        writer.member("omission", Self.omission)
        writer.objects("offers", sorted) { writer, item in
            writer.member("bundleID", utf8: item.offer.app.bundleID.text.utf8)
            writer.member("environment", item.offer.app.environment.rawValue)
            writer.member("productID", utf8: item.offer.productID.text.utf8)
            writer.member("offerID", utf8: item.offer.offerID.text.utf8)
            writer.object("inForce") { $0.write(item.outcome.inForce, rule: item.outcome.ruleInForce) }
            writer.object("new") { $0.write(item.outcome.new, rule: item.outcome.newRule) }
            writer.object("gained") { $0.write(item.outcome.gained) }
            writer.object("lost") { $0.write(item.outcome.lost) }
        }
        return writer.finish()
    }
}

extension RulesDryRun.Outcome {
    /// The refusal reasons that occur, in alphabetical order, after nil for eligible customers.
    fileprivate var codes: [ReasonCode?] {
        Set(inForce.keys).union(new.keys).union([nil]).sorted { ($0?.rawValue ?? "") < ($1?.rawValue ?? "") }
    }

    fileprivate static func text(_ counts: [ReasonCode?: Int], rule: String?) -> String {
        guard !counts.isEmpty else { return "not decided" }
        let reasons = counts.filter { $0.key != nil }.sorted {
            ($0.value, $1.key?.rawValue ?? "") > ($1.value, $0.key?.rawValue ?? "")
        }
        let name = rule.map { " by the rule \($0)" } ?? ""
        let refused = reasons.map { "\($0.key?.rawValue ?? "") \($0.value)" }.joined(separator: ", ")
        return "\(counts[nil] ?? 0) eligible\(name)" + (refused.isEmpty ? "" : "; refused for \(refused)")
    }
}

extension RulesDryRun.Change {
    fileprivate var sampleText: String {
        sample.map { "\($0.kind.rawValue) \(String(decoding: $0.utf8, as: UTF8.self).printable)" }
            .joined(separator: ", ")
    }

    fileprivate func text(_ what: String) -> String {
        guard count > 0 else { return "" }
        let list = sample.isEmpty ? "" : ", such as \(sampleText)"
        return "  \(count) \(what)\(list)\n"
    }
}

extension JSONWriter {
    fileprivate mutating func write(_ counts: [ReasonCode?: Int], rule: String?) {
        if let rule { member("rule", rule) }
        member("eligible", Int64(counts[nil] ?? 0))
        object("refused") { writer in
            for (code, count) in counts.sorted(by: { ($0.key?.rawValue ?? "") < ($1.key?.rawValue ?? "") }) {
                if let code { writer.member(code.rawValue, Int64(count)) }
            }
        }
    }

    fileprivate mutating func write(_ change: RulesDryRun.Change) {
        member("count", Int64(change.count))
        objects("sample", change.sample) { writer, customer in writer.member(customer) }
    }
}
