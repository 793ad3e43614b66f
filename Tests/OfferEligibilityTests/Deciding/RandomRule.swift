import OfferCore
import OfferEligibility
import TestSupport

@testable import HistoryTestSupport

/// Conditions made by chance, deep enough to matter.
struct RandomRule {
    var random: SplitMix64

    mutating func condition(depth: Int = 3) throws -> Condition {
        switch Int.random(in: 0..<(depth > 0 ? 9 : 5), using: &random) {
        case 0, 1, 2: return .subscription(try subscription())
        case 3, 4: return .test(try test())
        case 5, 6: return .all(try conditions(depth))
        case 7: return .any(try conditions(depth))
        default: return .not(try condition(depth: depth - 1))
        }
    }

    private mutating func conditions(_ depth: Int) throws -> [Condition] {
        var conditions: [Condition] = []
        for _ in 0..<Int.random(in: 1...3, using: &random) { conditions.append(try condition(depth: depth - 1)) }
        return conditions
    }

    private mutating func subscription() throws -> SubscriptionCondition {
        let groups: [SubscriptionCondition.Groups] = [.offered, .offered, .any, .some(["h"]), .some(["g", "h"])]
        var tests: [SubscriptionTest] = []
        for _ in 0..<Int.random(in: 1...2, using: &random) { tests.append(try subscriptionTest()) }
        guard Int.random(in: 0..<5, using: &random) == 0 else {
            return SubscriptionCondition(groups: pick(groups), tests: tests)
        }
        let products = try some(["monthly", "yearly", "other"].map { try ProductID($0) })
        return SubscriptionCondition(
            groups: pick(groups.map(Optional.some) + [nil, nil]), products: products, tests: tests)
    }

    private mutating func subscriptionTest() throws -> SubscriptionTest {
        switch Int.random(in: 0..<19, using: &random) {
        case 0, 1: return .status(some(Subscription.Status.allCases))
        case 2: return .autoRenew(Bool.random(using: &random))
        case 3: return .renewsTo([pick([.same, .lower, .higher, .product(try ProductID("yearly"))])])
        case 4: return .endedBecause(some(Subscription.EndReason.allCases))
        case 5: return .endedAgo(bounds(in: 0...90).days)
        case 6: return .endsIn(bounds(in: 0...40).days)
        case 7: return .renewals(bounds(in: 0...6))
        case 8: return .subscribedFor(bounds(in: 0...200).days)
        case 9: return .lastPeriod(some(Subscription.PeriodKind.allCases))
        case 10: return .pendingOffer(pick([.some(true), .some(false), .offers(["half", "o1"])]))
        case 11: return .ownership(some(Subscription.Ownership.allCases))
        case 12: return .billingPlan(some(BillingPlanType.known))
        case 13: return .commitmentEndsIn(bounds(in: 0...400).days)
        case 14: return .commitmentPeriod(bounds(in: 1...12))
        case 15:
            return .autoRenewChanged(
                to: Bool.random(using: &random), within: .days(Int.random(in: 1...90, using: &random)))
        case 17: return .paidFor(bounds(in: 0...400).days)
        case 16:
            let within: Duration? = Bool.random(using: &random) ? .days(Int.random(in: 1...200, using: &random)) : nil
            return .billingErrors(BillingErrorsTest(within: within, count: bounds(in: 0...2)))
        default: return pick([.rank([.highest]), .rank([.lower]), .priceIncrease([.pending])])
        }
    }

    private mutating func test() throws -> CustomerTest {
        let within: Duration? = Bool.random(using: &random) ? .days(Int.random(in: 1...200, using: &random)) : nil
        switch Int.random(in: 0..<22, using: &random) {
        case 0: return .everSubscribed(Bool.random(using: &random))
        case 1: return .usedIntroductoryOffer(Bool.random(using: &random))
        case 2:
            let reasons: Set<Refund.Reason>? = Bool.random(using: &random) ? [.appIssue] : nil
            return .refunded(RefundTest(expected: Bool.random(using: &random), within: within, reasons: reasons))
        case 3: return .refundPending(Bool.random(using: &random))
        case 4: return .redeemed(RedemptionTest(within: within, count: bounds(in: 0...2)))
        case 5: return .winBackOffers(pick([.none, .any, .offers(["w"])]))
        case 6: return .owns([try ProductID("lifetime")])
        case 7: return .environment([pick([.production, .sandbox])])
        case 8: return .fact(TeamFactTest(name: pick(["a", "b"]), .exists(Bool.random(using: &random))))
        case 9: return .share(ShareTest(share: pick([0, 0.3, 0.9, 1]), name: pick(["s", "t"])))
        case 10: return .date(range())
        case 11: return .originalPurchase(range())
        case 12:
            let versions = ["1.0", "2.5", "2.5.0", "2.10", "3"].compactMap(AppVersion.init)
            return .originalAppVersion(
                pick([VersionRange(from: pick(versions)), VersionRange(before: pick(versions))]))
        case 13: return .fact(TeamFactTest(name: pick(["a", "n", "d"]), .date(range())))
        case 14: return .storefront(some(["USA", "DEU"]))
        case 15:
            let (least, most) = (
                Double(Int.random(in: 0...9, using: &random)), Double(Int.random(in: 0...9, using: &random))
            )
            let bounds = pick([
                Bounds(atLeast: least), Bounds(atMost: most),
                Bounds(atLeast: min(least, most), atMost: max(least, most)),
            ])
            return .fact(TeamFactTest(name: pick(["a", "n", "d"]), .number(bounds)))
        case 16: return .fact(TeamFactTest(name: pick(["a", "n", "d"]), .near(last: within, next: .days(300))))
        case 17: return .shown(EventTest(offers: pick([nil, ["half"]]), within: within, count: bounds(in: 0...3)))
        case 18: return .dismissed(EventTest(within: within, count: bounds(in: 0...3)))
        case 20: return .bought(BoughtTest([try ProductID("lifetime")], within: within))
        case 19: return .firstShown(FirstShownTest(offers: ["half"], within: within ?? .days(1)))
        default:
            let scalars: [TeamFactTest.Scalar] = [.bool(true), .bool(false), .number(4), .text("2026-01-01")]
            return .fact(TeamFactTest(name: pick(["a", "n", "d"]), .isOneOf(some(scalars))))
        }
    }

    /// A range around the times of ``DecidingPropertyTests``.
    private mutating func range() -> DateRange {
        let (one, other) = (
            Double.random(in: -200...900, using: &random), Double.random(in: -200...900, using: &random)
        )
        switch Int.random(in: 0..<3, using: &random) {
        case 0: return DateRange(from: .day(one))
        case 1: return DateRange(until: .day(one))
        default: return DateRange(from: .day(min(one, other)), until: .day(max(one, other)))
        }
    }

    private mutating func bounds(in range: ClosedRange<Int>) -> Bounds<Int> {
        let (one, other) = (Int.random(in: range, using: &random), Int.random(in: range, using: &random))
        switch Int.random(in: 0..<3, using: &random) {
        case 0: return Bounds(atLeast: one)
        case 1: return Bounds(atMost: one)
        default: return Bounds(atLeast: min(one, other), atMost: max(one, other))
        }
    }

    private mutating func pick<Value>(_ values: [Value]) -> Value {
        values[Int.random(in: values.indices, using: &random)]
    }

    private mutating func some<Value: Hashable>(_ values: [Value]) -> Set<Value> {
        Set((0..<Int.random(in: 1...2, using: &random)).map { _ in pick(values) })
    }
}

extension Bounds<Int> {
    fileprivate var days: Bounds<Duration> {
        Bounds<Duration>(atLeast: atLeast.map { .days($0) }, atMost: atMost.map { .days($0) })
    }
}
