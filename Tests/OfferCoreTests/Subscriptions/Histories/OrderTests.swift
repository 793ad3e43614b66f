import OfferCore
import TestSupport
import Testing

@Suite("The order of arrival")
struct OrderTests {
    /// Each argument stands for as many histories; their seeds follow one another.
    private static let batch: UInt64 = 500

    @Test(
        "any order, repeats and copies of 500 histories give the state that the history itself gives",
        arguments: 0..<20 as Range<UInt64>)
    func orderDoesNotMatter(number: UInt64) throws {
        for seed in number * Self.batch..<(number + 1) * Self.batch {
            let failures = try failures(of: try History(seed: seed))
            guard failures.isEmpty else {
                Issue.record("seed \(seed): \(failures[0])")
                return
            }
        }
    }

    @Test("the histories reach every status, every reason for an end and every kind of fact")
    func everyState() throws {
        var seen: Set<String> = []
        for seed in 0..<300 as Range<UInt64> {
            let history = try History(seed: seed)
            for life in history.lives {
                let known = (life.edges + [history.end]).filter { $0 >= history.end }.map { life.expected(at: $0) }
                seen.formUnion(known.map { $0.settled ? $0.status.rawValue : "unsettled" })
                seen.formUnion(known.compactMap { $0.endedBecause?.rawValue })
                if life.terms.contains(where: \.isUpgraded) { seen.insert("upgraded") }
            }
            seen.formUnion(history.facts.map { "\($0.key.kind)" } + [history.environment.rawValue])
        }
        let ends = Subscription.EndReason.allCases.map(\.rawValue)
        let kinds = SubscriberFact.Kind.allCases.filter { $0 != .receiptTransaction }.map { "\($0)" }
        let others = ["unsettled", "upgraded", "Production", "Sandbox"]
        #expect(seen == Set(Subscription.Status.allCases.map(\.rawValue) + ends + kinds + others))
    }

    @Test("merging sets is associative, commutative and idempotent", arguments: 0..<20 as Range<UInt64>)
    func algebra(seed: UInt64) throws {
        let facts = try History(seed: seed).delivery(0)
        let parts = (0..<3).map { part in
            SubscriberFacts(facts.enumerated().filter { $0.offset % 3 != part }.map(\.element))
        }
        func merged(_ order: [Int]) -> SubscriberFacts {
            order.reduce(into: SubscriberFacts()) { $0.merge(parts[$1]) }
        }
        var right = parts[1]
        right.merge(parts[2])
        var nested = parts[0]
        nested.merge(right)
        for order in [[0, 1, 2], [2, 1, 0], [1, 0, 2, 1, 1]] { #expect(merged(order) == nested) }
    }

    private func failures(of history: History) throws -> [String] {
        let deliveries = [SubscriberFacts(history.facts.reversed()), SubscriberFacts(try history.delivery(1))]
        var failures: [String] = []
        let times = times(of: history)
        for (place, now) in times.enumerated() {
            let state = SubscriberState(of: deliveries[place % 2], environment: history.environment, at: now)
            failures += differences(state, history, at: now)
            guard place == 0 else { continue }
            let other = SubscriberState(of: deliveries[1], environment: history.environment, at: now)
            if other != state { failures.append("The deliveries differ.") }
        }
        return failures
    }

    /// The end of the history, and some later times around which the state may change.
    private func times(of history: History) -> [Timestamp] {
        var random = SplitMix64(seed: UInt64(bitPattern: history.end.milliseconds))
        let edges = history.lives.flatMap(\.edges).filter { $0 >= history.end }
        return [history.end] + edges.shuffled(using: &random).prefix(3)
    }

    private func differences(_ state: SubscriberState, _ history: History, at now: Timestamp) -> [String] {
        let expected = history.lives.map { $0.expected(at: now) }
        let found = state.subscriptions.map(Expected.init)
        var differences = zip(expected, found).filter(!=).map { "expected \($0), found \($1) at \(now.milliseconds)" }
        if expected.count != found.count { differences.append("found \(found.count) subscriptions") }
        let redemptions = Set(state.redemptions.map(ExpectedRedemption.init))
        let expectedRedemptions = history.lives.reduce(into: Set()) { $0.formUnion($1.expectedRedemptions) }
        if redemptions != expectedRedemptions || redemptions.count != state.redemptions.count {
            differences.append("expected \(expectedRedemptions), found \(state.redemptions)")
        }
        if state.history != .whole || state.everSubscribed != true { differences.append("history \(state.history)") }
        return differences
    }
}
