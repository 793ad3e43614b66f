package import OfferCore

extension AppListing {
    /// Returns the app as a part of the configuration file, in YAML, to merge or to compare.
    ///
    /// Ranks are derived from the levels of each group. A price is stated for each currency in which it is unambiguous.
    package func yaml(of bundleID: BundleID) -> String {
        var lines = ["  - bundleID: \(Self.scalar(bundleID.text.description))", "    appAppleID: \(appAppleID)"]
        lines.append("    products:" + (products.isEmpty ? " []" : ""))
        for group in groups {
            let products = products.filter { $0.groupID == group.id }
            let lowest = products.compactMap(\.level).max() ?? 0
            for product in products { lines += Self.lines(product, in: group, lowest: lowest) }
        }
        return lines.joined(separator: "\n") + "\n"
    }

    private static func lines(_ product: ProductListing, in group: Group, lowest: Int) -> [String] {
        let facts = [
            product.displayName, group.referenceName.map { "group \($0)" }, product.state?.rawValue.lowercased(),
            product.winBackOffers.isEmpty ? nil : "win-back offers \(product.winBackOffers.joined(separator: ", "))",
            product.introductoryOfferCount == 0 ? nil : "\(product.introductoryOfferCount) introductory offers",
            product.retentionMessageID.map { "retention message \($0)" },
        ].compactMap(\.self).map(\.printable)
        var lines = ["      # " + facts.joined(separator: "; ")]
        lines.append("      - productID: \(scalar(product.productID.text.description))")
        lines.append("        subscriptionGroupID: \(quoted(group.id))")
        if let level = product.level { lines.append("        rank: \(lowest - level + 1)") }
        if product.isFamilySharable == true { lines.append("        familySharable: true") }
        if let price = Self.prices(product.priceByCurrency) { lines.append("        price: \(price)") }
        lines.append("        offers:" + (product.offers.isEmpty ? " []" : ""))
        for offer in product.offers {
            lines.append("          - offerID: \(scalar(offer.offerID.text.description))")
            if let mode = offer.mode { lines.append("            mode: \(mode.rawValue)") }
            if let periods = offer.periods(of: product) { lines.append("            periods: \(periods)") }
            if offer.billingPlan == .monthly {
                lines.append("            billingPlan: \(BillingPlanType.monthly.rawValue)")
            }
            if let price = Self.prices(ListedPrice.byCurrency(offer.prices ?? [:])) {
                lines.append("            price: \(price)")
            }
        }
        return lines
    }

    private static func prices(_ prices: [String: ListedPrice]) -> String? {
        guard !prices.isEmpty else { return nil }
        return "{" + prices.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value.amount)" }.joined(separator: ", ")
            + "}"
    }

    /// Returns a text as a YAML scalar, in quotation marks unless it certainly stands for a string without them.
    private static func scalar(_ text: String) -> String {
        let isPlain = text.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"),
                UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "-"):
                true
            default: false
            }
        }
        let hasWord = text.contains("_") || text.split(separator: ".").count > 2
        return isPlain && hasWord && text.first?.isLetter == true ? text : quoted(text)
    }

    private static func quoted(_ text: String) -> String {
        String(decoding: JSONWriter.string(Array(text.utf8)), as: UTF8.self)
    }
}
