import OfferCore

/// Finds rules that no customer can ever meet.
enum Contradictions {
    /// Reports the first contradiction in a condition.
    static func report(_ condition: Condition, at place: RuleNode, _ reader: inout YAMLReader) {
        guard let reason = reason(condition) else { return }
        reader.contradict(place, "this can never hold: \(reason)", hint: "remove one of the two")
    }

    /// - Returns: nil if nothing was found. That does not prove that the condition can hold.
    static func reason(_ condition: Condition) -> String? {
        switch condition {
        case .any(let members):
            // Every branch must be impossible. A branch of its own is reported where it stands alone.
            let reasons = members.map(reason)
            return reasons.contains { $0 == nil } ? nil : reasons.first ?? nil
        case .rule(_, let condition): return reason(condition)
        case .not: return nil
        case .all, .subscription, .test: return ofConjunction(required(condition))
        }
    }

    /// Why no customer can ever get a promotional offer by a rule, whatever the rule itself allows.
    static func ofOffer(_ condition: Condition) -> String? {
        for member in required(condition) {
            switch member {
            case .test(.everSubscribed(false)): return "the App Store gives promotional offers to subscribers only"
            case .subscription(let condition) where condition.tests.contains(.ownership([.familyShared])):
                return "the App Store gives no offers to family members"
            default: continue
            }
        }
        return nil
    }

    /// The conditions that must all hold.
    private static func required(_ condition: Condition) -> [Condition] {
        switch condition {
        case .all(let members): members.flatMap(required)
        case .rule(_, let condition): required(condition)
        default: [condition]
        }
    }

    private static func ofConjunction(_ members: [Condition]) -> String? {
        for member in members {
            if case .any = member, let reason = reason(member) { return reason }
            if case .not(let excluded) = member, members.contains(excluded) {
                return "one of its members is the opposite of another"
            }
        }
        let subscriptions = members.compactMap { if case .subscription(let condition) = $0 { condition } else { nil } }
        for group in Set(subscriptions.map(\.groups)) where group != .any {
            let tests = subscriptions.filter { $0.groups == group }.flatMap(\.tests)
            if let reason = ofTests(tests) { return reason }
        }
        for condition in subscriptions { if let reason = ofTests(condition.tests) { return reason } }
        let tests = members.compactMap { if case .test(let test) = $0 { test } else { nil } }
        return ofTests(tests)
    }

    /// All of them are about the one current subscription of a group.
    private static func ofTests(_ tests: [SubscriptionTest]) -> String? {
        let statuses = common(tests.compactMap { if case .status(let values) = $0 { values } else { nil } })
        if let statuses, statuses.isEmpty { return "no subscription has two statuses" }
        let over: Set<Subscription.Status> = [.expired, .revoked, .billingRetry]
        for test in tests {
            switch test {
            case .endedBecause, .endedAgo:
                if let statuses, statuses.isDisjoint(with: over) { return "a subscription with access has not ended" }
            case .endsIn:
                if let statuses, statuses.isSubset(of: over) {
                    return "a subscription without access does not end any more"
                }
            default: continue
            }
        }
        let sets = [
            common(
                tests.compactMap { if case .endedBecause(let values) = $0 { Set(values.map(\.rawValue)) } else { nil } }
            ),
            common(
                tests.compactMap { if case .lastPeriod(let values) = $0 { Set(values.map(\.rawValue)) } else { nil } }),
            common(tests.compactMap { if case .autoRenew(let isOn) = $0 { ["\(isOn)"] } else { nil } }),
        ]
        if sets.contains(where: { $0?.isEmpty == true }) { return "two of its conditions require different values" }
        if isEmpty(tests.compactMap { if case .renewals(let bounds) = $0 { bounds } else { nil } })
            || isEmpty(tests.compactMap { if case .endedAgo(let bounds) = $0 { bounds } else { nil } })
            || isEmpty(tests.compactMap { if case .endsIn(let bounds) = $0 { bounds } else { nil } })
            || isEmpty(tests.compactMap { if case .subscribedFor(let bounds) = $0 { bounds } else { nil } })
        {
            return "two of its ranges do not overlap"
        }
        return nil
    }

    private static func ofTests(_ tests: [CustomerTest]) -> String? {
        for test in tests {
            let opposite: CustomerTest? =
                switch test {
                case .usedIntroductoryOffer(let value): .usedIntroductoryOffer(!value)
                case .refundPending(let value): .refundPending(!value)
                default: nil
                }
            if let opposite, tests.contains(opposite) { return "one of its members is the opposite of another" }
        }
        let environments = common(tests.compactMap { if case .environment(let values) = $0 { values } else { nil } })
        if environments?.isEmpty == true { return "no customer is in two environments" }
        return nil
    }

    /// The values in all sets; nil if there is none.
    private static func common<Value: Hashable>(_ sets: [Set<Value>]) -> Set<Value>? {
        sets.dropFirst().reduce(sets.first) { $0?.intersection($1) }
    }

    /// Whether ranges do not overlap. A range that is empty by itself was reported when it was read.
    private static func isEmpty<Value>(_ all: [Bounds<Value>]) -> Bool {
        if all.contains(where: \.isEmpty) { return false }
        guard let least = all.compactMap(\.atLeast).max(), let most = all.compactMap(\.atMost).min() else {
            return false
        }
        return least > most
    }
}
