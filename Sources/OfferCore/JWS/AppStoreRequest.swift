/// What a JWS authorises an app to ask the App Store for.
///
/// Source: Apple, "Generating JWS to sign App Store requests" (StoreKit documentation).
package enum AppStoreRequest: Hashable, Sendable {
    /// Without a transaction any customer of the app can use it.
    case promotionalOffer(ProductID, OfferID, TransactionID?)
    /// `allowed` grants the introductory offer to a customer, or withholds it, whatever the App Store would decide.
    case introductoryOfferEligibility(ProductID, allowed: Bool, TransactionID)
    case advancedCommerce(JSONObjectText)

    /// The transaction that it is tied to; nil where any customer can use it.
    package var transactionID: TransactionID? {
        switch self {
        case .promotionalOffer(_, _, let id): id
        case .introductoryOfferEligibility(_, _, let id): id
        case .advancedCommerce: nil
        }
    }

    /// `aud` of its JWS.
    package var audience: String {
        switch self {
        case .promotionalOffer: "promotional-offer"
        case .introductoryOfferEligibility: "introductory-offer-eligibility"
        case .advancedCommerce: "advanced-commerce-api"
        }
    }
}
