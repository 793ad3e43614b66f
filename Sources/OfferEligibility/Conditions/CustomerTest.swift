package import OfferCore

/// A kind of customer requirement.
package protocol CustomerTestKind: RuleTest {
    func truth(in context: EvaluationContext) -> Truth

    /// Returns the found value, for reasons; nil if there is none.
    func found(in context: EvaluationContext) -> ReasonValue?

    /// Returns the source that could supply an unknown fact.
    func source(in context: EvaluationContext) -> DecisionReason.Source

    /// Returns true if only a complete history can give the test the wanted result.
    func needsCompleteHistory(wanting wanted: Bool) -> Bool

    /// Returns the reason why a rule must not want this result, if reports from apps could give it; nil if it may.
    func misuse(wanting wanted: Bool) -> String?

    /// Returns the test in the rule of an offer. Without an offer of its own, it tests that one.
    func about(_ offerID: OfferID) -> Self
}

extension CustomerTestKind {
    package var fact: String { Self.name }

    package func needsCompleteHistory(wanting wanted: Bool) -> Bool { false }

    package func misuse(wanting wanted: Bool) -> String? { nil }

    package func about(_ offerID: OfferID) -> Self { self }

    fileprivate static func contradiction(amongAll tests: [CustomerTest]) -> String? {
        contradiction(among: tests.compactMap { $0.kind as? Self })
    }
}

/// A customer requirement of any kind. It is a class for the same reason as ``SubscriptionTest``.
package final class CustomerTest: Hashable, Sendable {
    package let kind: any CustomerTestKind
    package let code: ReasonCode

    package init<Kind: CustomerTestKind>(_ kind: Kind) {
        self.kind = kind
        code = Kind.code
    }

    /// All kinds, in documentation order.
    package static let kinds: [any CustomerTestKind.Type] = [
        EverSubscribedTest.self, UsedIntroductoryOfferTest.self, RefundTest.self, RefundPendingTest.self,
        RedemptionTest.self, WinBackTest.self, OwnsTest.self, BoughtTest.self, OriginalAppVersionTest.self,
        OriginalPurchaseTest.self, TeamFactTest.self, DateTest.self, ShareTest.self, EnvironmentTest.self,
        StorefrontTest.self, PlacementTest.self, LinkTest.self,
        EventTest<ShownEvent>.self, EventTest<DismissedEvent>.self, FirstShownTest.self,
    ]

    /// - Returns: nil for an invalid value, after reporting it.
    package static func read(_ kind: any CustomerTestKind.Type, _ value: some RuleValue) -> CustomerTest? {
        func read<Kind: CustomerTestKind>(_ kind: Kind.Type) -> CustomerTest? {
            Kind.read(value).map { CustomerTest($0) }
        }
        return read(kind)
    }

    func about(_ offerID: OfferID) -> CustomerTest {
        func about<Kind: CustomerTestKind>(_ kind: Kind) -> CustomerTest {
            let other = kind.about(offerID)
            return other == kind ? self : CustomerTest(other)
        }
        return about(kind)
    }

    package static func == (one: CustomerTest, other: CustomerTest) -> Bool {
        one === other || AnyHashable(one.kind) == AnyHashable(other.kind)
    }

    package func hash(into hasher: inout Hasher) { hasher.combine(AnyHashable(kind)) }

    func truth(in context: EvaluationContext) -> Truth { kind.truth(in: context) }

    /// Returns the reason why the test does not have the wanted result.
    /// - Parameters:
    ///   - truth: the result.
    ///   - wanted: true if the test should hold.
    func reason(_ truth: Truth, wanting wanted: Bool, in context: EvaluationContext) -> DecisionReason {
        guard truth == .unknown else {
            return DecisionReason(
                code, fact: kind.fact, found: kind.found(in: context), required: kind.required, isExcluded: !wanted)
        }
        return DecisionReason(
            .unknown, fact: kind.fact, required: kind.required, isExcluded: !wanted, missing: kind.source(in: context))
    }

    /// - Returns: the reason why the tests can never all hold; nil if none was found.
    package static func contradiction(among tests: [CustomerTest]) -> String? {
        kinds.lazy.compactMap { $0.contradiction(amongAll: tests) }.first
    }
}
