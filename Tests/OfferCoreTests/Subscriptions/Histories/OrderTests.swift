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
        let facts = SubscriberFacts(history.facts.reversed())
        let deliveries = [facts, SubscriberFacts(try history.delivery(1)), SubscriberFacts(try history.delivery(2))]
        var failures: [String] = []
        for now in times(of: history) {
            let states = deliveries.map { SubscriberState(of: $0, environment: history.environment, at: now) }
            if Set(states).count != 1 { failures.append("The deliveries differ.") }
            failures += differences(states[0], history, at: now)
        }
        return failures
    }

    /// The end of the history, and some later times around which the state may change.
    private func times(of history: History) -> [Timestamp] {
        var random = SplitMix64(seed: UInt64(bitPattern: history.end.milliseconds))
        let edges = history.lives.flatMap(\.edges).filter { $0 >= history.end }
        return [history.end] + edges.shuffled(using: &random).prefix(4)
    }

    private func differences(_ state: SubscriberState, _ history: History, at now: Timestamp) -> [String] {
        let expected = history.lives.map { $0.expected(at: now) }
        let found = state.subscriptions.map(Expected.init)
        var differences = found == expected ? [] : ["expected \(expected), found \(found) at \(now.milliseconds)"]
        let redemptions = Set(state.redemptions.map(ExpectedRedemption.init))
        let expectedRedemptions = history.lives.reduce(into: Set()) { $0.formUnion($1.expectedRedemptions) }
        if redemptions != expectedRedemptions || redemptions.count != state.redemptions.count {
            differences.append("expected \(expectedRedemptions), found \(state.redemptions)")
        }
        if state.history != .whole || state.everSubscribed != true { differences.append("history \(state.history)") }
        return differences
    }
}
