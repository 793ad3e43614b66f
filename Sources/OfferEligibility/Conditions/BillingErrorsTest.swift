import OfferCore

/// `billingErrors`: the number of renewals that the App Store could not collect at first.
///
/// Each is known only from the App Store's notification about it.
package struct BillingErrorsTest: SubscriptionTestKind {
    package static let name = "billingErrors"
    package static let code = ReasonCode.billingErrors
    package static let subject = "The number of billing errors"

    /// The maximum age of the errors; nil for no limit.
    package let within: Duration?
    package let count: Bounds<Int>

    package init(within: Duration? = nil, count: Bounds<Int> = Bounds(atLeast: 1)) {
        self.within = within
        self.count = count
    }

    package static func read(_ value: some RuleValue) -> Self? {
        if value.text != nil { return value.counts().map { Self(count: $0) } }
        guard let members = value.knownMembers(name, known: ["within", "count"]) else { return nil }
        let within = members["within"].read { $0.duration() }
        let count = members["count"].read { $0.counts() }
        guard !within.isUnreadable, !count.isUnreadable else { return nil }
        return Self(within: within.value, count: count.value ?? Bounds(atLeast: 1))
    }

    package func truth(of subscription: Subscription, in context: EvaluationContext) -> Truth {
        let found = subscription.billingErrors.count { context.isWithin(within, $0) }
        // Before the first purchase, there was nothing to collect.
        let since = [within.map { context.start(of: $0) }, subscription.firstPurchasedAt].compactMap(\.self).max()
        let isComplete = since.map(subscription.knowsChanges) ?? false
        return isComplete ? Truth(count.contains(found)) : count.contains(atLeast: found)
    }

    package var required: ReasonValue { ReasonValue(count) { .number(Double($0)) } }

    package func found(_ subscription: Subscription) -> ReasonValue? {
        .number(Double(subscription.billingErrors.count))
    }

    package func source(_ subscription: Subscription) -> DecisionReason.Source { .notification }

    package static func contradiction(among tests: [Self]) -> String? {
        let isApart = tests.contains { test in
            tests.filter { $0.within == test.within }.map(\.count).areApart()
        }
        return isApart ? Contradiction.ranges : nil
    }
}

extension SubscriptionTest {
    package static func billingErrors(_ test: BillingErrorsTest) -> SubscriptionTest { SubscriptionTest(test) }
}
