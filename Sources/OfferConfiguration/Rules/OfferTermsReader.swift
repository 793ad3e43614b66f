import OfferCore
import OfferEligibility
import Yams

/// Reads the offers of a product. A plain ID has no rule: anyone who may request the offer gets it.
struct OfferTermsReader {
    /// An offer as it is listed.
    struct Listed {
        let offerID: OfferID
        /// nil for an offer without a rule.
        let terms: OfferTerms?
        /// By currency, for comparison with the product's.
        var price: [String: Double] = [:]
        var mode: OfferPrice.Mode?
        /// The number of periods that it lasts.
        var periods: Int?
        let place: RuleNode
    }

    private static let names = ["offerID", "rule", "priority", "price", "mode", "periods", "limits", "signedElsewhere"]

    /// - Parameter productID: nil if it cannot be read.
    static func read(
        _ place: RuleNode, of productID: ProductID?, _ rules: inout RulesReader, _ reader: inout YAMLReader
    ) -> Listed? {
        guard place.node.mapping != nil else {
            return readOfferID(place, &reader).map { Listed(offerID: $0, terms: nil, place: place) }
        }
        let members = reader.members(of: place, "an offer", known: names)
        if place.node.mapping != nil, members["offerID"] == nil {
            reader.contradict(place, "the offer has no offerID", hint: "add it")
        }
        let offerID = members["offerID"].flatMap { readOfferID($0, &reader) }
        let rule = members["rule"].map { rules.rule(at: $0, &reader) }
        let limits = members["limits"].map { OfferLimitsReader.read($0, &reader) }
        let priority = members["priority"].map { reader.integer(of: $0) }
        let isElsewhere = members["signedElsewhere"].map { reader.flag(of: $0) }
        let price = members["price"].map { reader.prices(of: $0) } ?? [:]
        let mode = members["mode"].flatMap { reader.mode(of: $0) }
        let periods = members["periods"].flatMap { reader.positive(of: $0) }
        guard let offerID else { return nil }
        // An offer whose rule cannot be read must not count as one without a rule. The problem keeps it from being used.
        guard rule != nil || limits != nil || priority != nil, let productID else {
            return Listed(
                offerID: offerID, terms: nil, price: price, mode: mode, periods: periods, place: place)
        }
        let subscribers = Rule(name: nil, condition: .test(.everSubscribed(true)))
        if let condition = (rule ?? nil)?.condition, let reason = Contradictions.ofOffer(condition) {
            reader.contradict(members["rule"] ?? place, "this can never hold: \(reason)", hint: "change the rule")
        }
        let terms = OfferTerms(
            productID: productID, offerID: offerID, rule: (rule ?? nil) ?? subscribers,
            priority: (priority ?? nil) ?? 0,
            limits: (limits ?? nil) ?? OfferLimits(), isSignedElsewhere: (isElsewhere ?? nil) ?? false)
        return Listed(offerID: offerID, terms: terms, price: price, mode: mode, periods: periods, place: place)
    }

    private static func readOfferID(_ place: RuleNode, _ reader: inout YAMLReader) -> OfferID? {
        reader.value(of: place.node) { text throws(FieldError) in try OfferID(utf8: text) }
    }
}

/// Reads `limits` of an offer.
enum OfferLimitsReader {
    static func read(_ place: RuleNode, _ reader: inout YAMLReader) -> OfferLimits? {
        let members = reader.members(
            of: place, "limits", known: ["perCustomer", "cooldown", "outstanding", "total"])
        let perCustomer = members["perCustomer"].flatMap { readPerCustomer($0, &reader) }
        let cooldown = members["cooldown"].flatMap { reader.duration(of: $0) }
        let outstanding = members["outstanding"].flatMap { reader.positive(of: $0) }
        let total = members["total"].flatMap { reader.positive(of: $0) }
        if let count = perCustomer?.count, let total, count > total {
            reader.contradict(place, "perCustomer is greater than total", hint: "lower it, or raise total")
        }
        return OfferLimits(perCustomer: perCustomer, cooldown: cooldown, total: total, outstanding: outstanding)
    }

    private static func readPerCustomer(_ place: RuleNode, _ reader: inout YAMLReader) -> OfferLimits.PerCustomer? {
        if place.node.scalar != nil { return reader.positive(of: place).map { OfferLimits.PerCustomer(count: $0) } }
        let members = reader.members(of: place, "perCustomer", known: ["count", "every"])
        guard let node = members["count"] else {
            if place.node.mapping != nil { reader.contradict(place, "perCustomer has no count", hint: "add it") }
            return nil
        }
        let every = members["every"].flatMap { reader.duration(of: $0) }
        return reader.positive(of: node).map { OfferLimits.PerCustomer(count: $0, every: every) }
    }
}

extension YAMLReader {
    fileprivate mutating func positive(of place: RuleNode) -> Int? {
        guard let count = place.node.scalar.flatMap({ Int($0.string) }), (1...1_000_000_000).contains(count) else {
            return refuse(place, expected: "a whole number from 1 on")
        }
        return count
    }

    fileprivate mutating func mode(of place: RuleNode) -> OfferPrice.Mode? {
        place.node.scalar.flatMap { OfferPrice.Mode(rawValue: $0.string) }
            ?? refuse(place, expected: OfferPrice.Mode.allCases.map(\.rawValue).joined(separator: ", "))
    }

    mutating func integer(of place: RuleNode) -> Int? {
        guard let number = place.node.scalar.flatMap({ Int($0.string) }), (-1_000_000...1_000_000).contains(number)
        else {
            return refuse(place, expected: "a whole number from -1000000 to 1000000")
        }
        return number
    }

    /// Reads `{USD: 9.99}`.
    mutating func prices(of place: RuleNode) -> [String: Double] {
        guard let mapping = place.node.mapping else {
            let _: Bool? = refuse(place, expected: "prices by currency, such as {USD: 9.99}")
            return [:]
        }
        var prices: [String: Double] = [:]
        for (key, value) in mapping {
            let item = place.member(key.scalar?.string ?? "", value)
            guard let currency = key.scalar?.string, currency.utf8.count == 3,
                currency.utf8.allSatisfy({ (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0) })
            else {
                let _: Bool? = refuse(RuleNode(key, place.path), expected: "a currency of ISO 4217, such as USD")
                continue
            }
            guard let price = value.scalar.flatMap({ Double($0.string) }), price >= 0, price.isFinite else {
                let _: Bool? = refuse(item, expected: "a price such as 9.99")
                continue
            }
            prices[currency] = price
        }
        return prices
    }
}
