import OfferCore
package import OfferEligibility

/// A hint in the log about the catalogue entry that a request with an unknown name may have meant.
package enum CatalogueHint {
    /// The maximum number of entries to compare. To keep refusals cheap, only ASCII strings of nearly equal length are
    /// compared.
    private static let maximumCount = 100

    /// - Returns: a clause, or nil if nothing is similar.
    package static func hint(
        for error: CatalogueError, _ item: CatalogueItem, in catalogue: Catalogue
    ) -> String? {
        let app = item.app
        switch error {
        case .unknownApp:
            return near(app.text, among: catalogue.apps.keys.lazy.map(\.text)).map { "there is an app \($0)" }
        case .unknownProduct:
            guard let product = item.product else { return nil }
            let products = catalogue.apps[app]?.offers ?? [:]
            return near(product.text, among: products.keys.lazy.map(\.text)).map { "the app has a product \($0)" }
        case .unknownOffer:
            guard let product = item.product, let offer = item.offer else { return nil }
            let products = catalogue.apps[app]?.offers ?? [:]
            if let other = products.prefix(maximumCount).first(where: { $0.value.contains(offer) }) {
                return "it is an offer of the product \(other.key.text)"
            }
            return near(offer.text, among: (products[product] ?? []).lazy.map(\.text))
                .map { "the product has an offer \($0)" }
        }
    }

    private static func near(_ text: FieldText, among others: some Sequence<FieldText>) -> FieldText? {
        guard text.utf8.count <= 100, text.utf8.allSatisfy({ $0 < 0x80 }) else { return nil }
        return others.prefix(maximumCount).first {
            abs($0.utf8.count - text.utf8.count) <= 1 && NearMiss.isNear($0.description, text.description)
        }
    }
}
