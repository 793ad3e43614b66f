import OfferCore
import OfferEligibility

/// Reads `subscription: {…}`.
enum SubscriptionConditionReader {
    private static let names = SubscriptionTest.kinds.map { $0.name } + ["group", "product"]

    static func read(_ place: RuleNode, _ reader: inout YAMLReader) -> SubscriptionCondition? {
        let members = reader.members(of: place, "a subscription", known: names)
        guard let count = place.memberCount, members.count == count else { return nil }
        let groups = reader.read(members["group"]) { readGroups($1, &$0) }
        let products = reader.read(members["product"]) { $0.productIDs(of: $1) }
        let tests = SubscriptionTest.kinds.compactMap { kind in
            members[kind.name].map { SubscriptionTest.read(kind, $0, &reader) }
        }
        guard !groups.isUnreadable, !products.isUnreadable, tests.allSatisfy({ $0 != nil }) else { return nil }
        guard !tests.isEmpty || products.value != nil else {
            reader.contradict(place, "nothing is required of the subscription", hint: "add a member such as status")
            return nil
        }
        return SubscriptionCondition(
            groups: groups.value, products: products.value, tests: tests.compactMap(\.self))
    }

    private static func readGroups(_ place: RuleNode, _ reader: inout YAMLReader) -> SubscriptionCondition.Groups? {
        if place.text == "any" { return .any }
        return reader.set(of: place, expected: "any, or a subscriptionGroupID") { text in
            (1...20).contains(text.utf8.count) && text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) ? text : nil
        }.map { .some($0) }
    }
}
