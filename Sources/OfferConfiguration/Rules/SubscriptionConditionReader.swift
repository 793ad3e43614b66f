import OfferCore
import OfferEligibility

/// Reads a condition on subscriptions: `subscription: {…}`.
enum SubscriptionConditionReader {
    private static let names = SubscriptionTest.kinds.map { $0.name } + ["group", "product"]

    static func read(_ value: YAMLValue) -> SubscriptionCondition? {
        let members = value.members("a subscription", known: names)
        guard let count = value.memberCount, members.count == count else { return nil }
        let groups = members["group"].read(readGroups)
        let products = members["product"].read { $0.productIDs() }
        let tests = SubscriptionTest.kinds.compactMap { kind in
            members[kind.name].map { SubscriptionTest.read(kind, $0) }
        }
        guard !groups.isUnreadable, !products.isUnreadable, tests.allSatisfy({ $0 != nil }) else { return nil }
        guard !tests.isEmpty || products.value != nil else {
            return value.refuse(
                "the condition requires nothing of the subscription", hint: "add a member such as status")
        }
        return SubscriptionCondition(
            groups: groups.value, products: products.value, tests: tests.compactMap(\.self))
    }

    private static func readGroups(_ value: YAMLValue) -> SubscriptionCondition.Groups? {
        if value.text == "any" { return .any }
        return value.set(expected: "any, or a subscriptionGroupID") { text in
            (1...20).contains(text.utf8.count) && text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) ? text : nil
        }.map { .some($0) }
    }
}
