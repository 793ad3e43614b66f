/// What the team offers: the promotional offers of each product of each app. Nothing outside of it is signed.
package struct Catalogue: Hashable, Sendable {
    package struct App: Hashable, Sendable {
        /// The app's ID in the App Store (`appAppleId`), if it was given.
        package let appStoreID: Int64?
        package let offers: [ProductID: Set<OfferID>]

        package init(appStoreID: Int64?, offers: [ProductID: Set<OfferID>]) {
            self.appStoreID = appStoreID
            self.offers = offers
        }
    }

    package let apps: [BundleID: App]

    package init(apps: [BundleID: App]) {
        self.apps = apps
    }

    /// Looks an offer up, byte for byte.
    /// - Throws: what of it is not there.
    package func require(_ offerID: OfferID, of product: ProductID, in app: BundleID) throws(CatalogueError) {
        guard let offers = apps[app]?.offers else { throw .unknownApp }
        guard let ofProduct = offers[product] else { throw .unknownProduct }
        guard ofProduct.contains(offerID) else { throw .unknownOffer }
    }
}

/// What is not in the catalogue. The caller is told none of it, so that nobody finds out by asking what there is.
package enum CatalogueError: Error, Hashable {
    case unknownApp
    case unknownProduct
    case unknownOffer
}
