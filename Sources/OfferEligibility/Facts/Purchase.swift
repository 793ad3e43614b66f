package import OfferCore

/// The members of a transaction that subscriber states and decisions need.
package struct Purchase: Hashable, Sendable {
    package let productID: ProductID
    /// May be later than the fact's `signedDate`: renewals are signed before they start.
    package let purchaseDate: Timestamp
    /// nil if the App Store does not state the type, as in data signed in 2021.
    package var type: ProductType?
    /// nil in receipts, which do not name the group.
    package var subscriptionGroupID: String?
    package var expiresDate: Timestamp?
    /// The same for all transactions that report one subscription period.
    package var webOrderLineItemID: String?
    package var ownership: OwnershipType?
    package var reason: TransactionReason?
    package var offer: AppliedOffer?
    package var revocation: Revocation?
    package var isUpgraded = false
    /// In thousandths of ``currency``, with the offer's discount. With ``seats``, the average price of one seat.
    package var price: Int64?
    /// An ISO 4217 code.
    package var currency: String?
    /// The three-letter code of the storefront's country or region.
    package var storefront: String?
    /// The number of items, or of the seats of this transaction.
    package var quantity: Int64?
    package var billingPlan: BillingPlanType?
    package var commitment: Commitment?
    /// The reason why the period has several transactions; nil if it has one.
    package var additionalReason: AdditionalTransactionReason?
    package var seats: Seats?
    package var appAccountToken: UUIDText?
    package var appTransactionID: TransactionID?

    package init(productID: ProductID, purchaseDate: Timestamp) {
        self.productID = productID
        self.purchaseDate = purchaseDate
    }
}

extension Purchase {
    /// True if the purchase is a period of an auto-renewable subscription. Without a type, an expiry date decides.
    package var isSubscriptionPeriod: Bool {
        guard let type else { return expiresDate != nil }
        return type == .autoRenewableSubscription
    }

    /// True if seats may be added to the purchase, each time in a transaction of its own.
    package var hasSeats: Bool { seats != nil || additionalReason != nil || (quantity ?? 1) > 1 }

    /// True if someone else bought it: a family share, a seat, or an ownership type that Apple has added since. False
    /// for data without ownership.
    package var isAnothers: Bool { ownership.map { $0 != .purchased } ?? false }
}
