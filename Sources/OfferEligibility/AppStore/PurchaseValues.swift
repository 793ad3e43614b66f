import OfferCore

package struct ProductType: OpenValue {
    package let rawValue: String

    package init(rawValue: String) { self.rawValue = rawValue }

    package static let autoRenewableSubscription = Self(rawValue: "Auto-Renewable Subscription")
    package static let nonRenewingSubscription = Self(rawValue: "Non-Renewing Subscription")
    package static let consumable = Self(rawValue: "Consumable")
    package static let nonConsumable = Self(rawValue: "Non-Consumable")
}

/// The way the customer obtained the product. Apple calls it `inAppOwnershipType`.
package struct OwnershipType: OpenValue {
    package let rawValue: String

    package init(rawValue: String) { self.rawValue = rawValue }

    package static let purchased = Self(rawValue: "PURCHASED")
    package static let familyShared = Self(rawValue: "FAMILY_SHARED")
    /// A seat that a group or an organisation assigned.
    package static let assigned = Self(rawValue: "ASSIGNED")
}

package struct TransactionReason: OpenValue {
    package let rawValue: String

    package init(rawValue: String) { self.rawValue = rawValue }

    /// The customer made the purchase. Includes upgrades.
    package static let purchase = Self(rawValue: "PURCHASE")
    /// The App Store renewed the subscription. Includes a downgrade that takes effect.
    package static let renewal = Self(rawValue: "RENEWAL")
}
