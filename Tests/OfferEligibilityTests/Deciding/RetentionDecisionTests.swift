import OfferCore
import OfferEligibility
import Testing

@testable import HistoryTestSupport

@Suite("The decision about a retention message")
struct RetentionDecisionTests {
    private static let message = UUIDText(high: 1, low: 1)
    private static let messages = RetentionMessages(otherwise: .init(otherwise: message))

    private static func rule(_ condition: Condition, _ name: String = "case") -> Rule {
        Rule(name: name, condition: condition)
    }

    private static let always = Condition.test(.everSubscribed(true))
    private static let never = Condition.test(.everSubscribed(false))

    private func rules(_ cases: [RetentionCase], offer condition: Condition = always) throws -> AppRules {
        AppRules(
            offers: [try DecidingSamples.terms(condition)], retention: cases,
            products: try DecidingSamples.products())
    }

    private func offer(_ rule: Rule?, of product: String = "monthly") throws -> RetentionCase {
        RetentionCase(
            rule: rule,
            content: .promotionalOffer(
                .init(
                    productID: try ProductID(product), offerID: try OfferID(utf8: Array("half".utf8)), form: .v2)),
            messages: Self.messages)
    }

    private func other(_ rule: Rule?, _ product: String = "yearly") throws -> RetentionCase {
        RetentionCase(rule: rule, content: .alternateProduct(try ProductID(product), nil), messages: Self.messages)
    }

    private func message(_ rule: Rule? = nil) -> RetentionCase {
        RetentionCase(rule: rule, content: .message, messages: Self.messages)
    }

    private func decide(
        _ cases: [RetentionCase], offer condition: Condition = always, on product: String = "monthly",
        _ change: (inout Purchase) throws -> Void = { _ in }
    ) throws -> RetentionDecision {
        let facts = try DecidingSamples.facts(renewal: TestFacts.renewal(of: "1", signed: 1), change)
        return try rules(cases, offer: condition).decideRetention(
            DecidingSamples.customer(facts),
            RetentionView(
                productID: try ProductID(product), locale: RetentionLocale("en-US"), environment: .production),
            at: DecidingSamples.now)
    }

    private func kinds(_ decision: RetentionDecision) -> [String] {
        decision.choices.map { choice in
            switch choice.content {
            case .message: "message"
            case .alternateProduct(let product, _): "\(product.text)"
            case .promotionalOffer(let terms, _): "\(terms.offerID.text) by \(terms.rule.name ?? "-")"
            }
        }
    }

    @Test("offers are choices until the first case that nothing can refuse")
    func order() throws {
        let cases = [try offer(Self.rule(Self.always)), message(), message()]
        #expect(kinds(try decide(cases)) == ["half by case", "message"])
        #expect(kinds(try decide([message(Self.rule(Self.never)), try other(nil), message()])) == ["yearly"])
        #expect(kinds(try decide([message(Self.rule(Self.never))])) == [])
    }

    @Test("the rule of the case decides in place of the offer's own; without one, the offer's does")
    func rules() throws {
        #expect(kinds(try decide([try offer(Self.rule(Self.always))], offer: Self.never)) == ["half by case"])
        #expect(kinds(try decide([try offer(Self.rule(Self.never)), message()])) == ["message"])
        #expect(kinds(try decide([try offer(nil)])) == ["half by r"])
        #expect(kinds(try decide([try offer(nil), message()], offer: Self.never)) == ["message"])
    }

    @Test("what is always in force stays so: a family member gets no offer")
    func standing() throws {
        let decision = try decide([try offer(Self.rule(Self.always)), message()]) { $0.ownership = .familyShared }
        #expect(kinds(decision) == ["message"])
        #expect(decision.offers.count == 1 && decision.offers[0].reasons.contains { $0.code == .familyShared })
    }

    @Test("the current product is not another one, and neither is one of another group")
    func products() throws {
        #expect(kinds(try decide([try other(nil, "monthly"), message()])) == ["message"])
        #expect(kinds(try decide([try other(nil, "other"), message()])) == ["message"])
        #expect(kinds(try decide([try other(nil), message()], on: "yearly")) == ["message"])
        #expect(
            kinds(try decide([try offer(nil), message()], on: "other")) == ["message"], "an offer of another group")
        #expect(kinds(try decide([try offer(nil)], on: "yearly")) == ["half by r"], "of another tier")
    }

    @Test("a case without a message for the locale is skipped")
    func locale() throws {
        let german = RetentionCase(
            rule: nil, content: .message,
            messages: RetentionMessages(
                otherwise: .init(byLocale: [RetentionLocale("de"): Self.message], otherwise: nil)))
        #expect(try decide([german, try other(nil)]).choices.count == 1)
        #expect(kinds(try decide([german, try other(nil)])) == ["yearly"])
    }

    @Test("the fallback is the last case, if it needs nothing about the customer")
    func fallback() throws {
        let view = RetentionView(
            productID: try ProductID("monthly"), locale: RetentionLocale("en"), environment: .production)
        #expect(try rules([message(Self.rule(Self.always)), message()]).retentionFallback(view)?.content == .message)
        #expect(try rules([message(), message(Self.rule(Self.always))]).retentionFallback(view) == nil)
        #expect(try rules([try offer(nil)]).retentionFallback(view) == nil)
        #expect(
            try rules([try other(nil)]).retentionFallback(view)?.content
                == .alternateProduct(try ProductID("yearly"), nil))
        #expect(try rules([try other(nil, "monthly")]).retentionFallback(view) == nil)
        #expect(try rules([]).retentionFallback(view) == nil)
    }
}
