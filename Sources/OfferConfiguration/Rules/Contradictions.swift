import OfferCore
import OfferEligibility

/// Finds rules that no customer can ever meet.
enum Contradictions {
    /// Reports the first contradiction in a condition.
    static func report(_ condition: Condition, at value: YAMLValue) {
        guard let reason = reason(condition) else { return }
        value.report("this can never hold: \(reason)", hint: "remove one of the two")
    }

    /// - Returns: nil if no contradiction was found, which does not prove that the condition can hold.
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

    /// Returns the reason the App Store never gives a promotional offer to customers who meet a condition; nil if there
    /// is none.
    static func ofOffer(_ condition: Condition) -> String? {
        for member in required(condition) {
            switch member {
            case .test(let test) where test == .everSubscribed(false):
                return "the App Store gives promotional offers only to subscribers"
            case .subscription(let condition) where condition.tests.contains(where: \.excludesPurchasers):
                return "the App Store gives offers only to purchasers, not to family members or holders of seats"
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
            if let reason = SubscriptionTest.contradiction(among: tests) { return reason }
        }
        for condition in subscriptions {
            if let reason = SubscriptionTest.contradiction(among: condition.tests) { return reason }
        }
        return CustomerTest.contradiction(
            among: members.compactMap { if case .test(let test) = $0 { test } else { nil } })
    }
}

extension SubscriptionTest {
    fileprivate var excludesPurchasers: Bool {
        (kind as? OwnershipTest)?.ownerships.contains(.purchased) == false
    }
}
