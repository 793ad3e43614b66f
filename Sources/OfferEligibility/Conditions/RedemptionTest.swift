import OfferCore

/// `redeemed`: the number of redemptions of promotional offers.
package struct RedemptionTest: CustomerTestKind {
    package static let name = "redeemed"
    package static let code = ReasonCode.redeemed
    package static let subject = "The number of redemptions"

    /// The IDs of promotional offers; nil for all.
    package let offers: Set<String>?
    /// The maximum age of the redemptions; nil for no limit.
    package let within: Duration?
    package let count: Bounds<Int>

    package init(offers: Set<String>? = nil, within: Duration? = nil, count: Bounds<Int> = Bounds(atLeast: 1)) {
        self.offers = offers
        self.within = within
        self.count = count
    }

    package static func read(_ value: some RuleValue) -> Self? {
        if value.text != nil {
            return value.flag().map { Self(count: $0 ? Bounds(atLeast: 1) : Bounds(atMost: 0)) }
        }
        guard let members = value.knownMembers(name, known: ["offer", "within", "count"]) else {
            return nil
        }
        let offers = members["offer"].read { $0.set(expected: "an offer ID") { $0.isEmpty ? nil : $0 } }
        let within = members["within"].read { $0.duration() }
        let count = members["count"].read { $0.counts() }
        guard !offers.isUnreadable, !within.isUnreadable, !count.isUnreadable else { return nil }
        return Self(offers: offers.value, within: within.value, count: count.value ?? Bounds(atLeast: 1))
    }

    package func truth(in context: EvaluationContext) -> Truth {
        let found = redemptions(in: context)
        return context.knowsAllRedemptions(of: offers) ? Truth(count.contains(found)) : count.contains(atLeast: found)
    }

    package var required: ReasonValue { ReasonValue(count) { .number(Double($0)) } }

    package func found(in context: EvaluationContext) -> ReasonValue? {
        .number(Double(redemptions(in: context)))
    }

    package func source(in context: EvaluationContext) -> DecisionReason.Source {
        context.facts.state.historySource
    }

    package func needsCompleteHistory(wanting wanted: Bool) -> Bool {
        // For named offers, the complete history of their groups may be enough.
        offers == nil && count.contains(0) == wanted
    }

    package static func contradiction(among tests: [Self]) -> String? {
        let isApart = tests.contains { test in
            tests.filter { $0.offers == test.offers && $0.within == test.within }.map(\.count).areApart()
        }
        return isApart ? Contradiction.ranges : nil
    }
}

extension CustomerTest {
    package static func redeemed(_ test: RedemptionTest) -> CustomerTest { CustomerTest(test) }
}

extension RedemptionTest {
    private func redemptions(in context: EvaluationContext) -> Int {
        context.facts.state.redemptions.count { redemption in
            redemption.type == .promotional && offers.map { $0.contains(redemption.offerID) } ?? true
                && context.isWithin(within, redemption.at)
        }
    }
}
