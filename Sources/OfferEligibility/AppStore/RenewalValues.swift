import OfferCore

package struct AutoRenewStatus: OpenValue {
    package let rawValue: Int64

    package init(rawValue: Int64) { self.rawValue = rawValue }

    package static let off = Self(rawValue: 0)
    package static let on = Self(rawValue: 1)
}

/// The reason a subscription expired.
package struct ExpirationIntent: OpenValue {
    package let rawValue: Int64

    package init(rawValue: Int64) { self.rawValue = rawValue }

    package static let cancelled = Self(rawValue: 1)
    package static let billingError = Self(rawValue: 2)
    package static let priceIncreaseDeclined = Self(rawValue: 3)
    package static let productUnavailable = Self(rawValue: 4)
    package static let other = Self(rawValue: 5)
}

package struct PriceIncreaseStatus: OpenValue {
    package let rawValue: Int64

    package init(rawValue: Int64) { self.rawValue = rawValue }

    package static let unanswered = Self(rawValue: 0)
    /// The customer consented, or was notified of an increase that needs no consent.
    package static let accepted = Self(rawValue: 1)
}
