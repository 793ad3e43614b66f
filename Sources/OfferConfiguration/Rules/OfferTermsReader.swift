import OfferCore
import OfferEligibility

/// Reads the offers of a product. An offer written as a plain ID has no rule: anyone who may request the offer gets it.
struct OfferTermsReader {
    /// An offer in the list of a product.
    struct Listed {
        let offerID: OfferID
        /// The terms of the offer; nil if it has no rule, limits or priority.
        let terms: OfferTerms?
        /// The prices by currency, for comparison with the product's prices.
        var price: [String: Double] = [:]
        var mode: OfferPrice.Mode?
        var billingPlan: BillingPlanType?
        /// The number of periods for which the offer lasts.
        var periods: Int?
    }

    private static let names = [
        "offerID", "rule", "priority", "price", "mode", "periods", "limits", "signedElsewhere", "billingPlan",
    ]

    /// - Parameter productID: nil if the product ID cannot be read.
    static func read(_ value: YAMLValue, of productID: ProductID?, _ rules: RulesReader) -> Listed? {
        let value = value.quotable
        guard value.isMapping else { return readOfferID(value).map { Listed(offerID: $0, terms: nil) } }
        let members = value.members("an offer", known: names, required: ["offerID"])
        let offerID = members["offerID"].flatMap(readOfferID)
        let rule = members["rule"].read { rules.rule($0) }
        let limits = members["limits"].read { OfferLimitsReader.read($0) }
        let priority = members["priority"].read { $0.number(in: -1_000_000...1_000_000) }
        let isElsewhere = members["signedElsewhere"]?.flag() ?? false
        let price = members["price"]?.prices() ?? [:]
        let mode = members["mode"]?.choice(OfferPrice.Mode.self)
        let periods = members["periods"]?.positive()
        let billingPlan = members["billingPlan"].flatMap { value -> BillingPlanType? in
            let known = BillingPlanType.known
            return known.first { $0.rawValue == value.text }
                ?? value.refuse(expected: known.map(\.rawValue).joined(separator: " or "))
        }
        guard let offerID else { return nil }
        var terms: OfferTerms?
        // An offer whose rule cannot be read must not count as an offer without a rule. The reported problem prevents
        // its use.
        if let productID, !(rule.isMissing && limits.isMissing && priority.isMissing) {
            if let condition = rule.value?.condition, let reason = Contradictions.ofOffer(condition) {
                (members["rule"] ?? value).report("this can never hold: \(reason)", hint: "change the rule")
            }
            terms = OfferTerms(
                productID: productID, offerID: offerID,
                rule: rule.value ?? Rule(name: nil, condition: .test(.everSubscribed(true))),
                priority: priority.value ?? 0, limits: limits.value ?? OfferLimits(), isSignedElsewhere: isElsewhere)
        }
        return Listed(
            offerID: offerID, terms: terms, price: price, mode: mode, billingPlan: billingPlan, periods: periods)
    }

    private static func readOfferID(_ value: YAMLValue) -> OfferID? {
        value.identifier { text throws(FieldError) in try OfferID(utf8: text) }
    }
}

/// Reads the `limits` of an offer.
enum OfferLimitsReader {
    static func read(_ value: YAMLValue) -> OfferLimits? {
        let members = value.members("limits", known: ["perCustomer", "cooldown", "outstanding", "total"])
        let perCustomer = members["perCustomer"].flatMap(readPerCustomer)
        let total = members["total"]?.positive()
        if let count = perCustomer?.count, let total, count > total {
            value.report("perCustomer is greater than total", hint: "lower perCustomer, or raise total")
        }
        return OfferLimits(
            perCustomer: perCustomer, cooldown: members["cooldown"]?.duration(), total: total,
            outstanding: members["outstanding"]?.positive())
    }

    private static func readPerCustomer(_ value: YAMLValue) -> OfferLimits.PerCustomer? {
        if value.text != nil { return value.positive().map { OfferLimits.PerCustomer(count: $0) } }
        let members = value.members("perCustomer", known: ["count", "every"], required: ["count"])
        let every = members["every"]?.duration()
        return members["count"]?.positive().map { OfferLimits.PerCustomer(count: $0, every: every) }
    }
}

extension YAMLValue {
    fileprivate func positive() -> Int? { number(in: 1...1_000_000_000) }

    /// Reads prices by currency, such as `{USD: 9.99}`.
    func prices() -> [String: Double] {
        var prices: [String: Double] = [:]
        for (key, value) in entries(expected: "prices by currency, such as {USD: 9.99}") {
            guard let currency = key.text, currency.utf8.count == 3,
                currency.utf8.allSatisfy({ (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0) })
            else {
                let _: Bool? = key.refuse(expected: "an ISO 4217 currency code, such as USD")
                continue
            }
            guard let price = value.text.flatMap({ Double($0) }), price >= 0, price.isFinite else {
                let _: Bool? = value.refuse(expected: "a price such as 9.99")
                continue
            }
            prices[currency] = price
        }
        return prices
    }
}
