import OfferCore

/// A kind of test in rules. Each is in one file: its notation in a rule, its evaluation, its reason for a refusal, and
/// its contradictions. ``SubscriptionTest/kinds`` and ``CustomerTest/kinds`` list all of them.
package protocol RuleTest: Hashable, Sendable {
    /// The name in rules.
    static var name: String { get }
    /// The reason code of a refusal.
    static var code: ReasonCode { get }
    /// The subject of the sentence that explains a refusal.
    static var subject: String { get }

    /// - Returns: nil if the value is not valid, which is reported.
    static func read(_ value: some RuleValue) -> Self?

    /// The name of the fact in reasons.
    var fact: String { get }
    /// The required value, for reasons.
    var required: ReasonValue { get }

    /// - Returns: the reason that these tests can never hold at the same time; nil if none was found.
    static func contradiction(among tests: [Self]) -> String?
}

extension RuleTest {
    package static func contradiction(among tests: [Self]) -> String? { nil }
}

/// A test that is written as `true` or `false`.
package protocol FlagTest: RuleTest {
    var expected: Bool { get }

    init(_ expected: Bool)
}

extension FlagTest {
    package static func read(_ value: some RuleValue) -> Self? {
        value.flag().map(Self.init)
    }

    package var required: ReasonValue { .bool(expected) }
}

/// A test that is written as a duration or as bounds of one.
package protocol DurationTest: RuleTest {
    var bounds: Bounds<Duration> { get }

    init(_ bounds: Bounds<Duration>)
}

extension DurationTest {
    package static func read(_ value: some RuleValue) -> Self? {
        value.durations().map(Self.init)
    }

    package var required: ReasonValue { ReasonValue(bounds) { .duration($0) } }

    package static func contradiction(among tests: [Self]) -> String? {
        tests.map(\.bounds).areApart() ? Contradiction.ranges : nil
    }
}

/// The sentences about contradictions that several kinds share.
enum Contradiction {
    static let values = "two of its conditions require different values"
    static let ranges = "two of its ranges do not overlap"
    static let opposites = "one of its members is the opposite of another"
}

extension Collection {
    /// Returns true if the sets have no value in common. False if there are no sets.
    func areDisjoint<Value: Hashable>() -> Bool where Element == Set<Value> {
        dropFirst().reduce(first) { $0?.intersection($1) }?.isEmpty == true
    }

    /// Returns true if the ranges do not overlap. A range that is empty by itself is reported when it is read.
    func areApart<Value>() -> Bool where Element == Bounds<Value> {
        if contains(where: \.isEmpty) { return false }
        guard let least = compactMap(\.atLeast).max(), let most = compactMap(\.atMost).min() else { return false }
        return least > most
    }

    /// Returns true if the half-open ranges do not overlap. A range that is empty by itself is reported when it is
    /// read.
    func areApart<Value: Comparable>() -> Bool where Element == (from: Value?, until: Value?) {
        guard count > 1, let from = compactMap(\.from).max(), let until = compactMap(\.until).min() else {
            return false
        }
        return from >= until
    }
}
