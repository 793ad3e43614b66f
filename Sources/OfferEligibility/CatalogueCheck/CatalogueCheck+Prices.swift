import OfferCore

extension CatalogueCheck {
    /// Compares an offer's prices with those of its plan, territory by territory.
    ///
    /// The App Store refuses a pay-as-you-go offer that is not cheaper (`invalidOfferPrice`). A pay-up-front price covers
    /// several periods, and the App Store may not check it, so a high one is only a warning.
    func priceFindings(_ offer: OfferListing, _ product: ProductListing) -> [CatalogueFinding] {
        guard let prices = offer.prices, let mode = offer.mode, mode != .freeTrial else { return [] }
        let list = product.prices(of: offer.billingPlan)
        return expensive(offer, product, prices, list, mode) + missing(offer, product, prices, list)
    }

    private func expensive(
        _ offer: OfferListing, _ product: ProductListing, _ prices: [String: ListedPrice],
        _ list: [String: ListedPrice], _ mode: OfferPrice.Mode
    ) -> [CatalogueFinding] {
        let isUpFront = mode == .payUpFront
        guard let periods = isUpFront ? offer.length(in: product) : 1 else { return [] }
        let territories = prices.keys.filter { territory in
            guard let price = prices[territory], let full = list[territory] else { return false }
            // A currency change of a territory makes its two amounts incomparable.
            guard price.currency == nil || full.currency == nil || price.currency == full.currency else { return false }
            return price.value > full.value * periods - 0.000_01
        }.sorted()
        guard let first = territories.first, let price = prices[first], let full = list[first] else { return [] }
        let count = periods == 1 ? "the product" : "\(Self.number(periods)) periods of the product"
        return [
            finding(
                isUpFront ? .offerPossiblyNotCheaper : .offerNotCheaper, product.productID, offer: offer.offerID,
                severity: isUpFront ? .warning : .error, territories: territories,
                "the offer is not cheaper than \(count) \(CatalogueFinding.clause(of: territories)): "
                    + "\(price.text) against \(full.text) for each period in \(first)",
                hint: isUpFront
                    ? "lower the offer's price, unless it is intended"
                    : "lower the offer's price in App Store Connect; devices refuse it with invalidOfferPrice")
        ]
    }

    private func missing(
        _ offer: OfferListing, _ product: ProductListing, _ prices: [String: ListedPrice], _ list: [String: ListedPrice]
    ) -> [CatalogueFinding] {
        let sold = Set(list.keys)
        let wanted = storefronts.map { $0.intersection(sold) } ?? sold
        let territories = wanted.subtracting(prices.keys).sorted()
        guard !territories.isEmpty else { return [] }
        let place = CatalogueFinding.clause(of: territories)
        return [
            finding(
                .noOfferPrice, product.productID, offer: offer.offerID,
                severity: storefronts == nil ? .warning : .error, territories: territories,
                storefronts == nil
                    ? "the product is sold, but the offer has no price \(place)"
                    : "there are customers, but the offer has no price \(place)",
                hint: "add prices for these territories in App Store Connect, or test storefront in the offer's rule")
        ]
    }

    private static func number(_ value: Double) -> String { Int(exactly: value).map(String.init) ?? "\(value)" }
}
