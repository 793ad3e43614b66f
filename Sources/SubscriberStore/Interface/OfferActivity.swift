package import OfferCore
package import OfferEligibility

/// The activity of an offer: its signatures, redemptions and exposures.
package struct OfferActivity: Hashable, Sendable {
    package let app: AppScope
    package let productID: ProductID
    package let offerID: String
    /// The signatures of each day in UTC, by the number of days since 1970.
    package internal(set) var signedByDay: [Int64: Int64] = [:]
    package internal(set) var redeemedByDay: [Int64: Int64] = [:]
    /// All redemptions, as they count for `total`.
    package internal(set) var redeemed: Int64 = 0
    /// The customers who were offered it for the first time since the requested time.
    package internal(set) var offered: Int64 = 0
    /// The customers whom a sample kept from it for the first time since then.
    package internal(set) var heldOut: Int64 = 0
}
