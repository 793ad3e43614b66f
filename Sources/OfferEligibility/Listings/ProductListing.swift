package import OfferCore

/// An auto-renewable subscription in App Store Connect.
package struct ProductListing: Hashable, Sendable {
    /// The review state. App Store Connect has more states than these.
    package struct State: OpenValue {
        package let rawValue: String

        package init(rawValue: String) { self.rawValue = rawValue }

        package static let approved = Self(rawValue: "APPROVED")
        package static let developerRemoved = Self(rawValue: "DEVELOPER_REMOVED_FROM_SALE")
        package static let removed = Self(rawValue: "REMOVED_FROM_SALE")
    }

    package let productID: ProductID
    package let groupID: String
    /// nil if it is unknown.
    package var state: State?
    /// The level within the group: 1 is the highest. nil if it is unknown.
    package var level: Int?
    package var period: ListedDuration?
    package var isFamilySharable: Bool?
    /// The name that customers see, in the app's primary language or else in another one; nil if it is unknown.
    package var displayName: String?
    /// The current prices by billing plan and territory. A plan is absent if no price of it is known.
    package var prices: [BillingPlanType: [String: ListedPrice]] = [:]
    /// The billing plans with which the product is sold; nil if they are unknown.
    package var plans: Set<BillingPlanType>?
    package var offers: [OfferListing] = []
    /// True if every promotional offer of the product could be read.
    package var hasAllOffers = true
    /// The identifiers of the win-back offers.
    package var winBackOffers: [String] = []
    /// The number of introductory offers. Each territory counts.
    package var introductoryOfferCount = 0
    /// The resource ID of the retention message that App Store Connect shows for the product; nil if none is known.
    package var retentionMessageID: String?

    package init(productID: ProductID, groupID: String) {
        self.productID = productID
        self.groupID = groupID
    }

    /// Returns the current prices of a billing plan, by territory. Apps buy with the up-front plan unless they choose.
    package func prices(of plan: BillingPlanType?) -> [String: ListedPrice] { prices[plan ?? .billedUpFront] ?? [:] }

    /// The list price of each currency, up front; see ``ListedPrice/byCurrency(_:)``.
    package var priceByCurrency: [String: ListedPrice] { ListedPrice.byCurrency(prices(of: nil)) }
}
