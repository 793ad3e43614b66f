import OfferCore

/// A kind of test in rules. Each kind has its own file, which contains its notation, evaluation, refusal reason and
/// contradictions. ``SubscriptionTest/kinds`` and ``CustomerTest/kinds`` list all kinds.
package protocol RuleTest: Hashable, Sendable {
    /// The test's name in rules.
    static var name: String { get }
    /// The reason code of a refusal.
    static var code: ReasonCode { get }
    /// The subject of the sentence that explains a refusal.
    static var subject: String { get }

    /// - Returns: nil for an invalid value, after reporting it.
    static func read(_ value: some RuleValue) -> Self?

    /// The name of the fact in reasons.
    var fact: String { get }
    /// The required value, for reasons.
    var required: ReasonValue { get }

    /// - Returns: the reason why the tests can never all hold; nil if none was found.
    static func contradiction(among tests: [Self]) -> String?
}

extension RuleTest {
    package static func contradiction(among tests: [Self]) -> String? { nil }
}

/// A test written as `true` or `false`.
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

/// A test written as a duration or as bounds on a duration.
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

/// A test written as a number or as bounds on a number.
package protocol CountTest: RuleTest {
    var bounds: Bounds<Int> { get }

    init(_ bounds: Bounds<Int>)
}

extension CountTest {
    package static func read(_ value: some RuleValue) -> Self? {
        value.counts().map(Self.init)
    }

    package var required: ReasonValue { ReasonValue(bounds) { .number(Double($0)) } }

    package static func contradiction(among tests: [Self]) -> String? {
        tests.map(\.bounds).areApart() ? Contradiction.ranges : nil
    }
}

/// Descriptions of contradictions, shared by several kinds.
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

    /// Returns true if the ranges do not overlap. Ignores empty ranges, because `RuleValue.bounds` reports them.
    func areApart<Value>() -> Bool where Element == Bounds<Value> {
        if contains(where: \.isEmpty) { return false }
        guard let least = compactMap(\.atLeast).max(), let most = compactMap(\.atMost).min() else { return false }
        return least > most
    }

    /// Returns true if the half-open ranges do not overlap. Ignores a single empty range, because `RuleValue.dates`
    /// reports it.
    func areApart<Value: Comparable>() -> Bool where Element == (from: Value?, until: Value?) {
        guard count > 1, let from = compactMap(\.from).max(), let until = compactMap(\.until).min() else {
            return false
        }
        return from >= until
    }
}
