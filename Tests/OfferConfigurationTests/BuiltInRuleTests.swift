import OfferCore
import OfferEligibility
import StoreTestSupport
import Testing

@testable import OfferConfiguration

/// Every built-in rule on 58 customers.
@Suite("The built-in rules")
struct BuiltInRuleTests {
    /// Each customer in words, and the rules that hold. The words: a status or a reason of the end; `on` or `off` for auto-renew;
    /// a number of renewals; `trial` for a first month that was free; `basic` for the lower product, `next:basic` for a scheduled
    /// change; `whole` where a history of the App Store is there; `committed` for one within a commitment of twelve bills, where
    /// `on`, `off` and `next` are the choice for its end, and the next bill is due in any case; and facts of the team.
    private static let customers: [(customer: String, rules: String)] = [
        // Subscribers.
        ("active on 0", ""), ("active on 1", ""), ("active on 5", ""), ("active on 6", ""), ("active on 10", ""),
        ("active on 11", "loyalty"), ("active on 12", "loyalty"), ("active on 30", "loyalty"),
        ("active off 0", "retention"), ("active off 10", "retention"), ("active off 11", "loyalty retention"),
        ("active on 0 trial", ""), ("active off 0 trial", "retention"), ("active on 11 trial", "loyalty"),
        ("active on 0 next:basic", "downgrade upgrade"), ("active on 11 next:basic", "downgrade loyalty upgrade"),
        ("active off 3 next:basic", "retention"), ("active on 2 next:yearly", ""),
        ("active on 5 basic", ""), ("active on 6 basic", "upgrade"), ("active on 11 basic", "loyalty upgrade"),
        ("active off 6 basic", "retention upgrade"), ("active on 2 basic next:monthly", ""),
        // What the team says.
        ("active on 0 careTicket", "customer_service"), ("active off 0 careTicket", "customer_service retention"),
        ("active on 0 churnRisk:high", "save"), ("active off 0 churnRisk:high", "retention"),
        ("active on 0 churnRisk:low", ""), ("active on 11 churnRisk:high", "loyalty save"),
        ("active on 0 churnRisk:high careTicket", "customer_service save"),
        // A payment that failed.
        ("grace on 0", ""), ("grace on 11", ""), ("grace on 0 churnRisk:high", ""),
        ("grace on 0 careTicket", "customer_service"),
        ("retry on 0", ""), ("retry on 11", ""), ("retry on 3 careTicket", "customer_service"),
        ("billing off 0", "app_store_default"), ("billing off 12", "app_store_default"), ("billing off 0 trial", ""),
        // Those who left.
        ("cancelled off 0", "app_store_default win_back"), ("cancelled off 12", "app_store_default win_back"),
        ("cancelled off 0 trial", "win_back"), ("cancelled off 3 trial", "win_back"),
        ("cancelled off 0 careTicket", "app_store_default customer_service win_back"),
        ("price off 2", "app_store_default lost_to_price_increase"), ("product off 2", "app_store_default"),
        ("refunded off 0", "app_store_default win_back"), ("refunded off 4 trial", "win_back"),
        // Within a commitment.
        ("active on 0 committed", ""), ("active off 0 committed", "retention"), ("active on 11 committed", "loyalty"),
        ("active on 0 committed churnRisk:high", "save"), ("active off 0 committed churnRisk:high", "retention"),
        ("active on 3 committed next:basic", "downgrade upgrade"), ("active off 3 committed next:basic", "retention"),
        ("cancelled off 11 committed", "app_store_default win_back"),
        // The period is over, and the App Store has not reported what follows.
        ("unsettled on 11", ""),
    ]

    @Test("each rule holds for those it is meant for, and for nobody else", arguments: customers)
    func holds(customer: String, rules: String) throws {
        let context = try Self.context(customer)
        let holding = BuiltInRules.conditions.filter { $0.value.truth(in: context) == .yes }.map(\.key).sorted()
        #expect(holding.joined(separator: " ") == rules)
    }

    @Test("there are 58 customers, and each rule holds for some and not for others")
    func table() {
        #expect(Self.customers.count == 58)
        let all = Self.customers.map { Set($0.rules.split(separator: " ").map(String.init)) }
        for name in BuiltInRules.conditions.keys {
            let count = all.count { $0.contains(name) }
            #expect(count > 0 && count < 58, "\(name)")
        }
    }

    private static func context(_ text: String) throws -> EvaluationContext {
        let words = text.split(separator: " ").map(String.init)
        func value(_ prefix: String) -> String? {
            words.first { $0.hasPrefix(prefix + ":") }.map { String($0.dropFirst(prefix.count + 1)) }
        }
        func product(_ name: String) throws -> ProductID { try ProductID(utf8: Array(name.utf8)) }
        let current = try product(words.contains("basic") ? "basic" : "monthly")
        let renewals = Int(words[2]) ?? 0
        let end = Double(renewals + 1) * 30
        var facts = (0...renewals).map { number in
            Sample.transaction("\(100 + number)", of: "100", Double(number) * 30, Double(number + 1) * 30) { purchase in
                var bought = Purchase(productID: current, purchaseDate: purchase.purchaseDate)
                bought.type = purchase.type
                bought.subscriptionGroupID = purchase.subscriptionGroupID
                bought.expiresDate = purchase.expiresDate
                bought.ownership = .purchased
                bought.reason = purchase.reason
                bought.price = 9990
                if words.contains("committed") {
                    bought.billingPlan = .monthly
                    bought.commitment = Commitment(
                        billingPeriodNumber: Int64(number + 1), totalBillingPeriods: 12, expiresDate: Sample.day(360))
                }
                if number == 0, words.contains("trial") {
                    bought.price = 0
                    bought.offer = AppliedOffer(type: .introductory, identifier: nil, discountType: .freeTrial)
                }
                if number == renewals, words[0] == "refunded" {
                    bought.revocation = Revocation(date: Sample.day(end - 20))
                }
                purchase = bought
            }
        }
        let next = try value("next").map(product) ?? current
        // What says that it has ended is signed after the end.
        let isOver = ["billing", "price", "product", "cancelled"].contains(words[0])
        facts.append(
            Sample.renewal(of: "100", signed: isOver ? end : end - 1) { renewal in
                renewal = Renewal(productID: current, autoRenewStatus: words[1] == "on" ? .on : .off)
                renewal.autoRenewProductID = next
                if words.contains("committed") {
                    let choice = renewal.autoRenewStatus
                    renewal = Renewal(productID: current, autoRenewStatus: .on)
                    renewal.autoRenewProductID = current
                    renewal.commitment = CommitmentRenewal(autoRenewProductID: next, autoRenewStatus: choice)
                }
                switch words[0] {
                case "grace":
                    renewal.isInBillingRetryPeriod = true
                    renewal.gracePeriodExpiresDate = Sample.day(end + 16)
                case "retry": renewal.isInBillingRetryPeriod = true
                case "billing": renewal.expirationIntent = .billingError
                case "price": renewal.expirationIntent = .priceIncreaseDeclined
                case "product": renewal.expirationIntent = .productUnavailable
                case "cancelled": renewal.expirationIntent = .cancelled
                default: break
                }
            })
        var team: [String: TeamFactValue] = [:]
        if words.contains("careTicket") { team["careTicket"] = .text(Array("4711".utf8)) }
        if let risk = value("churnRisk") { team["churnRisk"] = .text(Array(risk.utf8)) }
        let now = Sample.day(
            ["active", "refunded"].contains(words[0]) ? end - 0.5 : end + (words[0] == "unsettled" ? 1 : 10))
        facts.append(Sample.history(of: "100", at: now))
        let state = SubscriberState(of: SubscriberFacts(facts), environment: .production, at: now)
        let traits = try ProductTraits(
            groups: [product("basic"): "21012345", product("monthly"): "21012345", product("yearly"): "21012345"],
            ranks: [product("basic"): 1, product("monthly"): 2, product("yearly"): 2])
        return EvaluationContext(
            CustomerFacts(state: state, environment: .production, team: team), offering: try product("monthly"),
            products: traits, at: now)
    }
}
