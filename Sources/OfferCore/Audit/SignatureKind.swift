/// What kinds of signature there are, under the names that the audit trail and the metrics have for them.
package enum SignatureKind: String, CaseIterable, Hashable, Sendable {
    /// The fields joined by U+2063, for StoreKit 1 and older calls of StoreKit 2.
    case promotionalOffer = "promotional_offer"
    case promotionalOfferJWS = "promotional_offer_jws"
    case introductoryOfferJWS = "introductory_offer_jws"
    case advancedCommerceJWS = "advanced_commerce_jws"
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
