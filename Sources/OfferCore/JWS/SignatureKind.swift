/// The kinds of signature. The raw values name the kinds in the audit trail and the metrics.
package enum SignatureKind: String, CaseIterable, Hashable, Sendable {
    /// A signature over fields joined by U+2063, for StoreKit 1 and older StoreKit 2 calls.
    case promotionalOffer = "promotional_offer"
    case promotionalOfferJWS = "promotional_offer_jws"
    case introductoryOfferJWS = "introductory_offer_jws"
    case advancedCommerceJWS = "advanced_commerce_jws"
    /// A token that authorises requests to the App Store. It is sent only to Apple.
    case appStoreAPIToken = "app_store_api_token"
}

extension AppStoreRequest {
    package var kind: SignatureKind {
        switch self {
        case .promotionalOffer: .promotionalOfferJWS
        case .introductoryOfferEligibility: .introductoryOfferJWS
        case .advancedCommerce: .advancedCommerceJWS
        }
    }
}
