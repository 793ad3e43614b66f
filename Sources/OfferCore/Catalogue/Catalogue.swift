/// What the team offers: the promotional offers of each product of each app. Nothing outside of it is signed.
package struct Catalogue: Hashable, Sendable {
    package struct App: Hashable, Sendable {
        /// The app's ID in the App Store (`appAppleId`), if it was given.
        package let appStoreID: Int64?
        package let offers: [ProductID: Set<OfferID>]
        /// Whether a JWS for a promotional offer may be made without a transaction: any customer of the app can use it.
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

    /// Looks something up, byte for byte.
    /// - Throws: what of it is not there.
    package func require(_ item: CatalogueItem) throws(CatalogueError) {
        guard let app = apps[item.app] else { throw .unknownApp }
        guard let product = item.product else { return }
        guard let offers = app.offers[product] else { throw .unknownProduct }
        guard let offer = item.offer else { return }
        guard offers.contains(offer) else { throw .unknownOffer }
    }
}

/// What somebody asks for, as far as a catalogue knows it.
package struct CatalogueItem: Hashable, Sendable {
    package let app: BundleID
    /// nil for what is about the app as a whole.
    package let product: ProductID?
    /// nil for what is about the product as a whole.
    package let offer: OfferID?

    package init(app: BundleID, product: ProductID? = nil, offer: OfferID? = nil) {
        self.app = app
        self.product = product
        self.offer = offer
    }
}

/// What is not in the catalogue. The caller is told none of it, so that nobody finds out by asking what there is.
package enum CatalogueError: Error, Hashable {
    case unknownApp
    case unknownProduct
    case unknownOffer
}
