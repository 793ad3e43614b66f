package import OfferCore

/// A snapshot of an app's subscription data in App Store Connect.
package struct AppListing: Hashable, Sendable {
    /// The App Store's URL and version for notifications of one environment.
    package struct NotificationTarget: Hashable, Sendable {
        /// nil if none is set.
        package let url: String?
        /// `V1` or `V2`; nil if it is unknown.
        package let version: String?

        package init(url: String?, version: String?) {
            self.url = url
            self.version = version
        }
    }

    /// A subscription group, by its ID.
    package struct Group: Hashable, Sendable {
        package let id: String
        package let referenceName: String?

        package init(id: String, referenceName: String?) {
            self.id = id
            self.referenceName = referenceName
        }
    }

    package let appAppleID: Int64
    package let groups: [Group]
    package let products: [ProductListing]
    /// The targets for notifications; an environment is absent if App Store Connect did not describe it.
    package let notifications: [AppStoreEnvironment: NotificationTarget]
    /// The start of the reading.
    package let readAt: Timestamp
    /// The number of entries that could not be read. Nothing is concluded from their absence.
    package let unreadableCount: Int
    /// True if all groups and their products could be read, so that a product that is missing here does not exist.
    package let isComplete: Bool

    package init(
        appAppleID: Int64, groups: [Group], products: [ProductListing],
        notifications: [AppStoreEnvironment: NotificationTarget] = [:], readAt: Timestamp, unreadableCount: Int = 0,
        isComplete: Bool = true
    ) {
        self.appAppleID = appAppleID
        self.groups = groups
        self.products = products
        self.notifications = notifications
        self.readAt = readAt
        self.unreadableCount = unreadableCount
        self.isComplete = isComplete
    }

    package func product(_ productID: ProductID) -> ProductListing? { products.first { $0.productID == productID } }

    package func offer(_ productID: ProductID, _ offerID: OfferID) -> OfferListing? {
        product(productID)?.offers.first { $0.offerID == offerID }
    }

    /// Returns true if App Store Connect certainly has no such offer. An entry that could not be read may be the offer.
    ///
    /// If App Store Connect shows no offer of the app at all, the answers are not believed: it is more likely that they are
    /// wrong, or that the key may not read offers, than that all offers were deleted.
    package func lacks(_ productID: ProductID, _ offerID: OfferID) -> Bool {
        guard products.contains(where: { !$0.offers.isEmpty }) else { return false }
        guard let product = product(productID) else { return isComplete }
        return product.hasAllOffers && !product.offers.contains { $0.offerID == offerID }
    }
}
