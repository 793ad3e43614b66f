import OfferCore

/// The state of a subscription, as numbered in notifications and the App Store Server API. Apple calls it `status`.
package struct SubscriptionStatus: OpenValue {
    package let rawValue: Int64

    package init(rawValue: Int64) { self.rawValue = rawValue }

    package static let active = Self(rawValue: 1)
    package static let expired = Self(rawValue: 2)
    package static let billingRetry = Self(rawValue: 3)
    package static let billingGracePeriod = Self(rawValue: 4)
    package static let revoked = Self(rawValue: 5)
}
