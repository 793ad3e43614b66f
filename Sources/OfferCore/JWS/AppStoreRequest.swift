/// The App Store request that a JWS authorises.
///
/// Source: Apple, "Generating JWS to sign App Store requests" (StoreKit documentation).
package enum AppStoreRequest: Hashable, Sendable {
    /// Without a transaction, any customer of the app can use the JWS.
    case promotionalOffer(ProductID, OfferID, TransactionID?)
    /// `allowed` grants or withholds the introductory offer, overriding the App Store's own decision.
    case introductoryOfferEligibility(ProductID, allowed: Bool, TransactionID)
    case advancedCommerce(JSONObjectText)

    /// The transaction that ties the request to a customer; nil if any customer can use the JWS.
    package var transactionID: TransactionID? {
        switch self {
        case .promotionalOffer(_, _, let id): id
        case .introductoryOfferEligibility(_, _, let id): id
        case .advancedCommerce: nil
        }
    }

    /// The `aud` claim of the JWS.
    package var audience: String {
        switch self {
        case .promotionalOffer: "promotional-offer"
        case .introductoryOfferEligibility: "introductory-offer-eligibility"
        case .advancedCommerce: "advanced-commerce-api"
        }
    }
}
