import Foundation
import OfferCore
import OfferEligibility
import TestSupport
import Testing

@testable import HistoryTestSupport

/// `DECIDING_CASES` asks for more cases.
@Suite("Deciding, with random rules and random customers")
struct DecidingPropertyTests {
    private static let cases = ProcessInfo.processInfo.environment["DECIDING_CASES"].flatMap { Int($0) } ?? 20_000

    /// A customer at a time of their life, of whom a part may be known.
    private func customer(_ random: inout SplitMix64) throws -> (CustomerFacts, Timestamp) {
        let history = try History(seed: random.next())
        var facts = history.facts
        if Int.random(in: 0..<3, using: &random) == 0 {
            facts = facts.filter { _ in Int.random(in: 0..<4, using: &random) > 0 }
        }
        let first = facts.map(\.signedDate).min() ?? history.end
        let span = history.end.milliseconds - first.milliseconds
        let now = Timestamp(
            milliseconds: first.milliseconds + Int64.random(in: 0...(span + span / 4 + 1), using: &random))
        var known = facts.filter { $0.signedDate <= now }
        if Bool.random(using: &random) {
            known += try Set(known.map(\.originalTransactionID)).map { original in
                try TestFacts.fact(
                    .wholeHistory("r"), original.text.description, of: original.text.description, signed: now)
            }
        }
        let state = SubscriberState(known, history.environment, at: now)
        var team: [String: TeamFactValue] = Bool.random(using: &random) ? ["a": .bool(true)] : [:]
        if Bool.random(using: &random) {
            team["n"] = .number(Array("\(Int.random(in: 0...9, using: &random))".utf8))
            team["d"] = .text(Array("2026-01-01".utf8))
        }
        let isInstalled = Bool.random(using: &random)
        let events = try (0..<Int.random(in: 0...4, using: &random)).map { _ in
            OfferEvent(
                subject: .erased([1]), kind: Bool.random(using: &random) ? .shown : .dismissed,
                productID: try ProductID("monthly"),
                offerID: try OfferID(utf8: Array((Bool.random(using: &random) ? "half" : "o1").utf8)),
                at: now - .hours(Int.random(in: 0...5000, using: &random)))
        }
        return (
            CustomerFacts(
                state: state, environment: history.environment, team: team,
                originalAppVersion: isInstalled ? AppVersion("2.5") : nil,
                originalPurchase: isInstalled ? .day(Double.random(in: -200...900, using: &random)) : nil,
                events: events), now
        )
    }

    @Test("a slow, obvious second implementation agrees about every customer and rule")
    func reference() throws {
        var random = SplitMix64(seed: 20)
        var eligible = 0
        var seen: [Double: Int] = [:]
        for _ in 0..<(Self.cases / 20) {
            let (customer, now) = try customer(&random)
            let reference = ReferenceDecider(
                customer: customer, products: try DecidingSamples.products(), group: "g", now: now)
            for _ in 0..<20 {
                var rule = RandomRule(random: SplitMix64(seed: random.next()))
                let condition = try rule.condition()
                let terms = try DecidingSamples.terms(condition)
                let context = EvaluationContext(
                    customer, offering: terms.productID, products: reference.products, at: now)
                let truth = condition.truth(in: context)
                let expected = reference.value(condition)
                seen[expected, default: 0] += 1
                try #require(
                    truth == (expected == 1 ? .yes : expected == 0 ? .no : .unknown), "\(condition) \(customer.state)")
                let decision = AppRules(products: reference.products).decide(customer, about: terms, at: now)
                try #require(decision.isEligible == reference.isEligible(terms), "\(condition) \(customer.state)")
                try #require(decision.reasons.isEmpty == decision.isEligible, "\(condition)")
                try #require(decision.codes == decision.reasons.codes, "\(condition)")
                if decision.isEligible { eligible += 1 }
            }
        }
        #expect(seen.count == 3 && seen.values.allSatisfy { $0 > Self.cases / 50 } && eligible > Self.cases / 50)
    }

    @Test("another condition in all never turns a no into a yes, and the order of members does not matter")
    func conjunction() throws {
        var random = SplitMix64(seed: 21)
        for _ in 0..<(Self.cases / 20) {
            let (customer, now) = try customer(&random)
            let context = EvaluationContext(
                customer, offering: try ProductID("monthly"), products: try DecidingSamples.products(), at: now)
            var rule = RandomRule(random: SplitMix64(seed: random.next()))
            let members = [try rule.condition(), try rule.condition(), try rule.condition()]
            let fewer = Condition.all(Array(members.prefix(2))).truth(in: context)
            let all = Condition.all(members).truth(in: context)
            #expect(!(fewer == .no && all != .no) && !(fewer != .yes && all == .yes))
            #expect(Condition.all(members.shuffled(using: &random)).truth(in: context) == all)
            #expect(
                Condition.any(members.shuffled(using: &random)).truth(in: context)
                    == Condition.any(members).truth(in: context))
            let codes = Set(Condition.all(members).reasons(all, in: context))
            #expect(Set(Condition.all(members.reversed()).reasons(all, in: context)) == codes)
        }
    }

    /// Whether other periods of the subscription reach over the whole of one, as after an upgrade. Then nothing is missing without it.
    private func isCovered(_ hidden: SubscriberFact, by shown: [SubscriberFact], at now: Timestamp) -> Bool {
        // A subscription of which nothing is left cannot be missed.
        let isOnly =
            shown.count { $0.originalTransactionID == hidden.originalTransactionID && $0.key != hidden.key } == 0
        guard let period = period(of: hidden), !isOnly else { return true }
        var covered = period.start
        let others = shown.filter {
            $0.key != hidden.key && $0.originalTransactionID == hidden.originalTransactionID
        }.compactMap { self.period(of: $0) }
        for other in others.sorted(by: { $0.start < $1.start }) where other.start <= covered {
            covered = max(covered, other.end)
        }
        return covered >= min(period.end, now)
    }

    private func period(of fact: SubscriberFact) -> (start: Timestamp, end: Timestamp)? {
        guard case .transaction(let purchase) = fact.value, let end = purchase.expiresDate else { return nil }
        return (purchase.purchaseDate, end)
    }

    @Test("facts that are withheld never turn a refusal into a yes that the whole truth would refuse")
    func withheld() throws {
        var random = SplitMix64(seed: 22)
        for _ in 0..<(Self.cases / 20) {
            let history = try History(seed: random.next())
            let now = history.end
            func decision(_ facts: [SubscriberFact], _ condition: Condition) throws -> Truth {
                let state = SubscriberState(facts, history.environment, at: now)
                let customer = CustomerFacts(state: state, environment: history.environment)
                return condition.truth(
                    in: EvaluationContext(
                        customer, offering: try ProductID("monthly"), products: try DecidingSamples.products(), at: now)
                )
            }
            // What a customer could hide: a use of an offer, a refund, a redemption.
            let conditions: [Condition] = [
                .test(.usedIntroductoryOffer(false)), .test(.refunded(RefundTest(expected: false))),
                .test(.redeemed(RedemptionTest(count: Bounds(atMost: 0)))),
                .test(.redeemed(RedemptionTest(offers: ["half"], count: Bounds(atMost: 0)))),
            ]
            // Any of the transactions, the only proof of what they show. Without one, the history is not whole.
            let shown = history.facts.filter { $0.key.kind == .transaction }
            guard let hidden = shown.randomElement(using: &random), !isCovered(hidden, by: shown, at: now) else {
                continue
            }
            let part = history.facts.filter { $0.key != hidden.key && $0.key.kind != .wholeHistory }
            for condition in conditions where try decision(history.facts, condition) == .no {
                #expect(try decision(part, condition) != .yes, "\(condition)")
            }
        }
    }
}
