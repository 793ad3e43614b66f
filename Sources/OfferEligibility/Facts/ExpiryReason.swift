import OfferCore

/// The subtype of an `EXPIRED` notification. It is used if the renewal info does not state why a subscription ended.
package struct ExpiryReason: OpenValue {
    /// The subtype; empty if the notification has none.
    package let rawValue: String

    package init(rawValue: String) { self.rawValue = rawValue }

    package static let voluntary = Self(rawValue: "VOLUNTARY")
    package static let billingRetry = Self(rawValue: "BILLING_RETRY")
    package static let priceIncrease = Self(rawValue: "PRICE_INCREASE")
    package static let productNotForSale = Self(rawValue: "PRODUCT_NOT_FOR_SALE")
}
