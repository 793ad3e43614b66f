/// The team's promotional offers, by app and product. Nothing outside the catalogue is signed.
package struct Catalogue: Hashable, Sendable {
    package struct App: Hashable, Sendable {
        /// The app's ID in the App Store (`appAppleId`); nil if it is not configured.
        package let appStoreID: Int64?
        package let offers: [ProductID: Set<OfferID>]
        /// Whether a promotional-offer JWS may omit the transaction. Any customer of the app can use such a JWS.
        package let allowsUnboundJWS: Bool

        package init(appStoreID: Int64?, offers: [ProductID: Set<OfferID>], allowsUnboundJWS: Bool = false) {
            self.appStoreID = appStoreID
            self.offers = offers
            self.allowsUnboundJWS = allowsUnboundJWS
        }
    }

    package let apps: [BundleID: App]

    package init(apps: [BundleID: App]) {
        self.apps = apps
    }

    /// Checks that the catalogue contains the item. Identifiers are compared byte for byte.
    /// - Throws: a ``CatalogueError`` that names the first missing part.
    package func require(_ item: CatalogueItem) throws(CatalogueError) {
        guard let app = apps[item.app] else { throw .unknownApp }
        guard let product = item.product else { return }
        guard let offers = app.offers[product] else { throw .unknownProduct }
        guard let offer = item.offer else { return }
        guard offers.contains(offer) else { throw .unknownOffer }
    }
}

/// An app, product or offer to look up in a ``Catalogue``.
package struct CatalogueItem: Hashable, Sendable {
    package let app: BundleID
    /// nil if the item is the app itself.
    package let product: ProductID?
    /// nil if the item is the product itself.
    package let offer: OfferID?

    package init(app: BundleID, product: ProductID? = nil, offer: OfferID? = nil) {
        self.app = app
        self.product = product
        self.offer = offer
    }
}

/// The part of an item that is missing from the catalogue. Responses do not disclose it, so callers cannot probe the
/// catalogue.
package enum CatalogueError: Error, Hashable {
    case unknownApp
    case unknownProduct
    case unknownOffer
}
