import OfferCore

/// A kind of subscription requirement.
package protocol SubscriptionTestKind: RuleTest {
    func truth(of subscription: Subscription, in context: EvaluationContext) -> Truth

    /// Returns the found value, for reasons; nil if there is none.
    func found(_ subscription: Subscription) -> ReasonValue?

    /// Returns the source that could supply an unknown fact.
    func source(_ subscription: Subscription) -> DecisionReason.Source

    /// True if the fact never changes.
    static var isLasting: Bool { get }
}

extension SubscriptionTestKind {
    package static var isLasting: Bool { false }

    package var fact: String { "subscription." + Self.name }

    fileprivate static func contradiction(amongAll tests: [SubscriptionTest]) -> String? {
        contradiction(among: tests.compactMap { $0.kind as? Self })
    }
}

/// A subscription requirement of any kind.
///
/// It is a class, because copying an existential costs more than most tests.
package final class SubscriptionTest: Hashable, Sendable {
    package let kind: any SubscriptionTestKind
    package let code: ReasonCode
    private let isLasting: Bool

    package init<Kind: SubscriptionTestKind>(_ kind: Kind) {
        self.kind = kind
        code = Kind.code
        isLasting = Kind.isLasting
    }

    /// All kinds, in documentation order.
    package static let kinds: [any SubscriptionTestKind.Type] = [
        StatusTest.self, AutoRenewTest.self, RenewsToTest.self, EndedBecauseTest.self, EndedAgoTest.self,
        EndsInTest.self, RenewalsTest.self, SubscribedForTest.self, PaidForTest.self, LastPeriodTest.self,
        PendingOfferTest.self, OwnershipTest.self, PriceIncreaseTest.self, RankTest.self, BillingPlanTest.self,
        CommitmentEndsInTest.self, CommitmentPeriodTest.self, AutoRenewChangedTest.self, BillingErrorsTest.self,
    ]

    /// - Returns: nil for an invalid value, after reporting it.
    package static func read(_ kind: any SubscriptionTestKind.Type, _ value: some RuleValue) -> SubscriptionTest? {
        func read<Kind: SubscriptionTestKind>(_ kind: Kind.Type) -> SubscriptionTest? {
            Kind.read(value).map { SubscriptionTest($0) }
        }
        return read(kind)
    }

    package static func == (one: SubscriptionTest, other: SubscriptionTest) -> Bool {
        one === other || AnyHashable(one.kind) == AnyHashable(other.kind)
    }

    package func hash(into hasher: inout Hasher) { hasher.combine(AnyHashable(kind)) }

    func truth(of subscription: Subscription, in context: EvaluationContext) -> Truth {
        // Since the last refresh, any fact that is not lasting may have changed.
        if subscription.isStale, !isLasting { return .unknown }
        return kind.truth(of: subscription, in: context)
    }

    /// Returns the reason why the test does not have the wanted result for a subscription.
    /// - Parameters:
    ///   - truth: the result.
    ///   - wanted: true if the test should hold.
    func reason(_ truth: Truth, wanting wanted: Bool, of subscription: Subscription) -> DecisionReason {
        guard truth == .unknown else {
            return DecisionReason(
                code, fact: kind.fact, found: kind.found(subscription), required: kind.required, isExcluded: !wanted)
        }
        let isStale = subscription.isStale && !isLasting
        return DecisionReason(
            .unknown, fact: kind.fact, required: kind.required, isExcluded: !wanted,
            missing: isStale ? .appStore : kind.source(subscription))
    }

    /// - Parameter tests: tests of one subscription.
    /// - Returns: the reason why they can never all hold; nil if none was found.
    package static func contradiction(among tests: [SubscriptionTest]) -> String? {
        for kind in kinds { if let reason = kind.contradiction(amongAll: tests) { return reason } }
        let statuses = tests.compactMap { $0.kind as? StatusTest }.map(\.statuses)
        let over: Set<Subscription.Status> = [.expired, .revoked, .billingRetry]
        if let common = statuses.dropFirst().reduce(statuses.first, { $0?.intersection($1) }) {
            if common.isDisjoint(with: over),
                tests.contains(where: { $0.kind is EndedBecauseTest || $0.kind is EndedAgoTest })
            {
                return "a subscription with access has not ended"
            }
            if common.isSubset(of: over), tests.contains(where: { $0.kind is EndsInTest }) {
                return "a subscription without access has already ended"
            }
        }
        guard tests.contains(.autoRenew(false)), tests.contains(where: { $0.kind is RenewsToTest }) else { return nil }
        return "without auto-renewal, there is no next period"
    }
}
