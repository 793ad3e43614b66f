import OfferCore

/// `refunded`: a past refund of any purchase in the app.
package struct RefundTest: CustomerTestKind {
    package static let name = "refunded"
    package static let code = ReasonCode.refunded
    package static let subject = "The refund"

    /// True if a refund is required; false if it is excluded.
    package let expected: Bool
    /// The maximum age of the refunds; nil for no limit.
    package let within: Duration?
    /// The refund reasons that count; nil for all.
    package let reasons: Set<Refund.Reason>?

    package init(expected: Bool = true, within: Duration? = nil, reasons: Set<Refund.Reason>? = nil) {
        self.expected = expected
        self.within = within
        self.reasons = reasons
    }

    package static func read(_ value: some RuleValue) -> Self? {
        if value.text != nil { return value.flag().map { Self(expected: $0) } }
        guard let members = value.knownMembers(name, known: ["within", "reason"]) else { return nil }
        let within = members["within"].read { $0.duration() }
        let reasons = members["reason"].read { $0.choices(Refund.Reason.self) }
        guard !within.isUnreadable, !reasons.isUnreadable else { return nil }
        return Self(within: within.value, reasons: reasons.value)
    }

    package func truth(in context: EvaluationContext) -> Truth {
        let found = refunds(in: context)
        // Receipts do not state the reason for a refund.
        let isCertain = reasons == nil || found.contains { $0.reason != nil }
        if !found.isEmpty { return isCertain ? Truth(expected) : .unknown }
        return context.facts.state.areRefundsKnown ? Truth(!expected) : .unknown
    }

    package var required: ReasonValue {
        var members: [ReasonValue.Member] = []
        if let within { members.append(.init("within", .duration(within))) }
        if let reasons { members.append(.init("reason", .texts(reasons.map(\.rawValue)))) }
        return members.isEmpty ? .bool(expected) : .members(members)
    }

    package func found(in context: EvaluationContext) -> ReasonValue? {
        refunds(in: context).last.map { .time($0.at) }
    }

    package func source(in context: EvaluationContext) -> DecisionReason.Source {
        context.facts.state.historySource
    }

    package func needsCompleteHistory(wanting wanted: Bool) -> Bool { expected != wanted }
}

extension CustomerTest {
    package static func refunded(_ test: RefundTest) -> CustomerTest { CustomerTest(test) }
}

extension RefundTest {
    private func refunds(in context: EvaluationContext) -> [Refund] {
        context.facts.state.refunds.filter { refund in
            context.isWithin(within, refund.at)
                && (reasons.map { reasons in refund.reason.map(reasons.contains) ?? true } ?? true)
        }
    }
}
