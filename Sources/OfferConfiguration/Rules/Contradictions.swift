import OfferCore
import OfferEligibility

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
            // Every branch must be impossible. A single impossible branch is not reported here.
            let reasons = members.map(reason)
            return reasons.contains { $0 == nil } ? nil : reasons.first ?? nil
        case .rule(_, let condition): return reason(condition)
        case .not: return nil
        case .all, .subscription, .test: return ofConjunction(required(condition))
        }
    }

    /// The reason the App Store never gives a promotional offer to customers who meet a condition; nil if there is none.
    static func ofOffer(_ condition: Condition) -> String? {
        for member in required(condition) {
            switch member {
            case .test(.everSubscribed(false)): return "the App Store gives promotional offers to subscribers only"
            case .subscription(let condition) where condition.tests.contains(where: \.excludesPurchasers):
                return "the App Store gives offers to purchasers only, not to family members or holders of seats"
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

    /// All tests are about the one current subscription of a group.
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
        if tests.contains(.autoRenew(false)), tests.contains(where: \.needsNextPeriod) {
            return "without auto-renewal, there is no next period"
        }
        func values(_ read: (SubscriptionTest) -> Set<String>?) -> Set<String>? { common(tests.compactMap(read)) }
        let sets = [
            values { if case .endedBecause(let values) = $0 { Set(values.map(\.rawValue)) } else { nil } },
            values { if case .lastPeriod(let values) = $0 { Set(values.map(\.rawValue)) } else { nil } },
            values { if case .autoRenew(let isOn) = $0 { ["\(isOn)"] } else { nil } },
            values { if case .ownership(let values) = $0 { Set(values.map(\.rawValue)) } else { nil } },
            values { if case .priceIncrease(let values) = $0 { Set(values.map(\.rawValue)) } else { nil } },
            values { if case .rank(let values) = $0 { Set(values.map(\.rawValue)) } else { nil } },
            values { if case .pendingOffer(.some(let expected)) = $0 { ["\(expected)"] } else { nil } },
            values { if case .pendingOffer(.offers(let ids)) = $0 { ids } else { nil } },
        ]
        if tests.contains(.pendingOffer(.some(false))),
            tests.contains(where: { if case .pendingOffer(.offers) = $0 { true } else { false } })
        {
            return "two of its conditions require different values"
        }
        if areApart(tests.compactMap { if case .renewsTo(let values) = $0 { values } else { nil } }) {
            return "two of its conditions require different products of the next period"
        }
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
        return ofWinBacks(tests) ?? ofRanges(tests) ?? ofFacts(tests)
    }

    private static func ofWinBacks(_ tests: [CustomerTest]) -> String? {
        let wantsSome = tests.contains { test in
            switch test {
            case .winBackOffers(.any), .winBackOffers(.offers): true
            default: false
            }
        }
        guard wantsSome, tests.contains(.winBackOffers(.none)) else { return nil }
        return "the App Store has no offer and has one"
    }

    private static func ofRanges(_ tests: [CustomerTest]) -> String? {
        let versions = tests.compactMap { if case .originalAppVersion(let range) = $0 { range } else { nil } }
        let dates = tests.compactMap { if case .date(let range) = $0 { range } else { nil } }
        let purchases = tests.compactMap { if case .originalPurchase(let range) = $0 { range } else { nil } }
        let redemptions = tests.compactMap { if case .redeemed(let test) = $0 { test } else { nil } }
        let shares = tests.compactMap { if case .share(let test) = $0 { test } else { nil } }
        let apart =
            doNotOverlap(versions.map { ($0.from, $0.before) }) || doNotOverlap(dates.map { ($0.from, $0.until) })
            || doNotOverlap(purchases.map { ($0.from, $0.until) })
            || redemptions.contains { test in
                isEmpty(redemptions.filter { $0.offers == test.offers && $0.within == test.within }.map(\.count))
            } || shares.contains { $0.share <= 0 }
        return apart ? "two of its ranges do not overlap" : nil
    }

    /// Compares the tests of each fact by its name.
    private static func ofFacts(_ tests: [CustomerTest]) -> String? {
        let facts = tests.compactMap { if case .fact(let test) = $0 { test } else { nil } }
        for (_, tests) in Dictionary(grouping: facts, by: \.name) {
            let requirements = tests.map(\.requirement)
            let scalars = common(requirements.compactMap { if case .isOneOf(let values) = $0 { values } else { nil } })
            let numbers = requirements.compactMap { if case .number(let bounds) = $0 { bounds } else { nil } }
            let dates = requirements.compactMap { if case .date(let range) = $0 { range } else { nil } }
            if requirements.contains(.exists(false)), requirements.contains(where: { $0 != .exists(false) }) {
                return "a fact that does not exist has no value"
            }
            if scalars?.isEmpty == true { return "a fact has one value" }
            if isEmpty(numbers) || doNotOverlap(dates.map { ($0.from, $0.until) }) {
                return "two of its ranges do not overlap"
            }
            if !numbers.isEmpty, !dates.isEmpty { return "a fact is a number or a date" }
            guard let scalars, !numbers.isEmpty else { continue }
            let fits = scalars.contains { scalar in
                guard case .number(let number) = scalar else { return false }
                return numbers.allSatisfy { $0.contains(number) }
            }
            if !fits { return "no value of the fact is within its bounds" }
        }
        return nil
    }

    /// True if half-open ranges do not overlap. A range that is empty by itself was reported when it was read.
    private static func doNotOverlap<Value: Comparable>(_ all: [(from: Value?, until: Value?)]) -> Bool {
        guard all.count > 1, let from = all.compactMap(\.from).max(), let until = all.compactMap(\.until).min() else {
            return false
        }
        return from >= until
    }

    /// True if no product of the next period satisfies all sets. `lower` and `higher` can mean any product except the
    /// current one.
    private static func areApart(_ all: [Set<SubscriptionTest.Renewal>]) -> Bool {
        func agree(_ one: SubscriptionTest.Renewal, _ other: SubscriptionTest.Renewal) -> Bool {
            switch (one, other) {
            case (.product(let one), .product(let other)): one == other
            case (.product, _), (_, .product): true
            default: one == other
            }
        }
        return all.indices.contains { place in
            all[..<place].contains { earlier in
                !earlier.contains { one in all[place].contains { agree(one, $0) } }
            }
        }
    }

    /// The values common to all sets; nil if there are no sets.
    private static func common<Value: Hashable>(_ sets: [Set<Value>]) -> Set<Value>? {
        sets.dropFirst().reduce(sets.first) { $0?.intersection($1) }
    }

    /// True if ranges do not overlap. A range that is empty by itself was reported when it was read.
    private static func isEmpty<Value>(_ all: [Bounds<Value>]) -> Bool {
        if all.contains(where: \.isEmpty) { return false }
        guard let least = all.compactMap(\.atLeast).max(), let most = all.compactMap(\.atMost).min() else {
            return false
        }
        return least > most
    }
}

extension SubscriptionTest {
    /// True if the test holds only if there is a next period.
    fileprivate var needsNextPeriod: Bool { if case .renewsTo = self { true } else { false } }
}

extension SubscriptionTest {
    fileprivate var excludesPurchasers: Bool {
        if case .ownership(let values) = self { !values.contains(.purchased) } else { false }
    }
}
