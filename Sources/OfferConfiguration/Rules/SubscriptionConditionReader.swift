import OfferCore
import OfferEligibility
import Yams

/// Reads `subscription: {…}`.
enum SubscriptionConditionReader {
    /// The members that test the subscription, by their names in the file.
    private enum Test: String, CaseIterable {
        case status, autoRenew, renewsTo, endedBecause, endedAgo, endsIn, renewals, subscribedFor, lastPeriod
        case pendingOffer, ownership, priceIncrease, rank
    }

    private static let names = Test.allCases.map(\.rawValue) + ["group", "product"]

    static func read(_ place: RuleNode, _ reader: inout YAMLReader) -> SubscriptionCondition? {
        let members = reader.members(of: place, "a subscription", known: names)
        guard let count = place.node.mapping?.count, members.count == count else { return nil }
        let groups = members["group"].map { readGroups($0, &reader) }
        let products = members["product"].map { readProducts($0, &reader) }
        let tests = Test.allCases.compactMap { test in members[test.rawValue].map { readTest(test, $0, &reader) } }
        guard groups.map({ $0 != nil }) ?? true, products.map({ $0 != nil }) ?? true, tests.allSatisfy({ $0 != nil })
        else { return nil }
        guard !tests.isEmpty || products != nil else {
            reader.contradict(place, "nothing is required of the subscription", hint: "add a member such as status")
            return nil
        }
        return SubscriptionCondition(
            groups: groups ?? nil, products: products ?? nil, tests: tests.compactMap { $0 })
    }

    private static func readGroups(_ place: RuleNode, _ reader: inout YAMLReader) -> SubscriptionCondition.Groups? {
        if place.node.scalar?.string == "any" { return .any }
        return reader.set(of: place, expected: "any, or a subscriptionGroupID") { text in
            (1...20).contains(text.utf8.count) && text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) ? text : nil
        }.map { .some($0) }
    }

    static func readProducts(_ place: RuleNode, _ reader: inout YAMLReader) -> Set<ProductID>? {
        reader.set(of: place, expected: "a product ID") { try? ProductID(utf8: Array($0.utf8)) }
    }

    private static func readTest(
        _ test: Test, _ place: RuleNode, _ reader: inout YAMLReader
    ) -> SubscriptionTest? {
        switch test {
        case .status: return reader.choices(of: place, Subscription.Status.self).map { .status($0) }
        case .autoRenew: return readSwitch(place, &reader).map { .autoRenew($0) }
        case .renewsTo: return readRenewals(place, &reader).map { .renewsTo($0) }
        case .endedBecause: return reader.choices(of: place, Subscription.EndReason.self).map { .endedBecause($0) }
        case .endedAgo: return reader.bounds(of: place) { $0.duration(of: $1) }.map { .endedAgo($0) }
        case .endsIn: return reader.bounds(of: place) { $0.duration(of: $1) }.map { .endsIn($0) }
        case .renewals: return reader.bounds(of: place) { $0.count(of: $1) }.map { .renewals($0) }
        case .subscribedFor: return reader.bounds(of: place) { $0.duration(of: $1) }.map { .subscribedFor($0) }
        case .lastPeriod: return reader.choices(of: place, Subscription.PeriodKind.self).map { .lastPeriod($0) }
        case .pendingOffer: return readPendingOffer(place, &reader).map { .pendingOffer($0) }
        case .ownership: return reader.choices(of: place, Subscription.Ownership.self).map { .ownership($0) }
        case .priceIncrease:
            return reader.choices(of: place, Subscription.PriceIncrease.self).map { .priceIncrease($0) }
        case .rank: return reader.choices(of: place, SubscriptionTest.Rank.self).map { .rank($0) }
        }
    }

    private static func readSwitch(_ place: RuleNode, _ reader: inout YAMLReader) -> Bool? {
        switch place.node.scalar?.string {
        case "on"?, "true"?: true
        case "off"?, "false"?: false
        default: reader.refuse(place, expected: "on or off")
        }
    }

    private static func readRenewals(
        _ place: RuleNode, _ reader: inout YAMLReader
    ) -> Set<SubscriptionTest.Renewal>? {
        reader.set(of: place, expected: "same, lower, higher, or a product ID") { text in
            switch text {
            case "same": .same
            case "lower": .lower
            case "higher": .higher
            default: (try? ProductID(utf8: Array(text.utf8))).map { .product($0) }
            }
        }
    }

    private static func readPendingOffer(
        _ place: RuleNode, _ reader: inout YAMLReader
    ) -> SubscriptionTest.PendingOffer? {
        switch place.node.scalar?.string {
        case "true"?: .some(true)
        case "false"?: .some(false)
        default:
            reader.set(of: place, expected: "true, false or an offer ID") { $0.isEmpty ? nil : $0 }.map { .offers($0) }
        }
    }
}
