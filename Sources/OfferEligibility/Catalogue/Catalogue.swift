package import OfferCore

/// The team's promotional offers, by app and product. The service signs nothing outside the catalogue.
package struct Catalogue: Hashable, Sendable {
    package struct App: Hashable, Sendable {
        /// The app's Apple ID (`appAppleId`), which production data contains; nil if it is not configured.
        package let appAppleID: Int64?
        /// The environments whose App Store data is accepted.
        package let environments: Set<AppStoreEnvironment>
        package let offers: [ProductID: Set<OfferID>]
        /// The subscription group of each product, for App Store data that does not name it.
        package private(set) var groups: [ProductID: String]
        /// The products with Family Sharing. Needed for receipts, which do not state ownership.
        package let familySharable: Set<ProductID>
        /// True if a promotional-offer JWS may omit the transaction. Any customer of the app can use such a JWS.
        package let allowsUnboundJWS: Bool
        package let ownership: OwnershipPolicy
        /// The age at which a customer's data is refreshed from the App Store; nil for never.
        package let freshness: Duration?
        package let notifications: AppNotifications
        package let events: AppEvents
        package private(set) var rules: AppRules
        /// The terms of offers that the file sets, to compare them.
        package let prices: [OfferPrice]
        /// The configured prices of one period of each product, by currency.
        package let productPrices: [ProductID: [String: Double]]
        /// The facts of the team whose values are kept with their dates, for reports.
        package let tracked: Set<FieldText>
        /// True if offers that App Store Connect no longer has are refused.
        package let refusesDeadOffers: Bool
        /// The app's App Store Connect data; nil if unknown.
        package private(set) var listing: AppListing?
        /// The offers that are refused because App Store Connect no longer has them.
        private var deadOffers: [ProductID: Set<OfferID>] = [:]
        /// The billing plan of each offer for which one is configured. The app must buy with that plan.
        private let billingPlans: [ProductID: [OfferID: BillingPlanType]]

        /// - Parameter environments: nil means the sandbox, plus production if `appAppleID` is set.
        package init(
            appAppleID: Int64? = nil, environments: Set<AppStoreEnvironment>? = nil,
            offers: [ProductID: Set<OfferID>], groups: [ProductID: String] = [:],
            familySharable: Set<ProductID> = [], allowsUnboundJWS: Bool = false,
            ownership: OwnershipPolicy = .first, freshness: Duration? = nil,
            notifications: AppNotifications = AppNotifications(), events: AppEvents = AppEvents(),
            rules: AppRules = AppRules(),
            prices: [OfferPrice] = [], productPrices: [ProductID: [String: Double]] = [:],
            billingPlans: [ProductID: [OfferID: BillingPlanType]] = [:], refusesDeadOffers: Bool = false,
            tracked: Set<FieldText> = []
        ) {
            self.appAppleID = appAppleID
            self.environments = environments ?? Self.defaultEnvironments(appAppleID: appAppleID)
            self.offers = offers
            self.groups = groups
            self.familySharable = familySharable
            self.allowsUnboundJWS = allowsUnboundJWS
            self.ownership = ownership
            self.freshness = freshness
            self.notifications = notifications
            self.events = events
            self.rules = rules
            self.prices = prices
            self.productPrices = productPrices
            self.billingPlans = billingPlans
            self.refusesDeadOffers = refusesDeadOffers
            self.tracked = tracked
        }

        package func billingPlan(of productID: ProductID, _ offerID: OfferID) -> BillingPlanType? {
            billingPlans[productID]?[offerID]
        }

        /// Returns a copy that also knows what App Store Connect has. The configured values take precedence.
        ///
        /// Ranks come from App Store Connect only for groups in which the file ranks no product, because the two scales
        /// differ.
        package func adding(_ listing: AppListing) -> App {
            var app = self
            app.listing = listing
            let products = listing.products.filter { offers[$0.productID] != nil }
            for product in products where app.groups[product.productID] == nil {
                app.groups[product.productID] = product.groupID
            }
            var ranks = rules.products.ranks
            for (_, products) in Dictionary(grouping: products, by: \.groupID)
            where !products.contains(where: { ranks[$0.productID] != nil }) {
                for product in products { ranks[product.productID] = product.level.map { -$0 } }
            }
            app.rules.products = ProductTraits(groups: app.groups, ranks: ranks, offers: offers)
            if refusesDeadOffers {
                let dead = offers.map { productID, offers in (productID, offers.filter { listing.lacks(productID, $0) })
                }
                app.deadOffers = Dictionary(uniqueKeysWithValues: dead.filter { !$0.1.isEmpty })
                app.rules.setUnavailable { [app] in app.isUnavailable($0, $1) }
            }
            return app
        }

        /// Returns true if the offer must be refused because App Store Connect no longer has it.
        package func isUnavailable(_ productID: ProductID, _ offerID: OfferID) -> Bool {
            deadOffers[productID]?.contains(offerID) == true
        }

        package static func defaultEnvironments(appAppleID: Int64?) -> Set<AppStoreEnvironment> {
            appAppleID == nil ? [.sandbox] : [.production, .sandbox]
        }
    }

    package private(set) var apps: [BundleID: App]
    /// The SHA-256 digest of the configuration file, for the audit trail. Empty without a file.
    package let digest: [UInt8]

    /// The app, if there is only one.
    package var onlyApp: BundleID? { apps.count == 1 ? apps.keys.first : nil }

    package init(apps: [BundleID: App], digest: [UInt8] = []) {
        self.apps = apps
        self.digest = digest
    }

    /// Returns a copy that also knows what App Store Connect has; see ``App/adding(_:)``.
    package func adding(_ listings: [BundleID: AppListing]) -> Catalogue {
        var catalogue = self
        for (bundleID, listing) in listings { catalogue.apps[bundleID] = apps[bundleID]?.adding(listing) }
        return catalogue
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
