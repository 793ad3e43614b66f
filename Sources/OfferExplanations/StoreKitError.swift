/// A StoreKit error for a failed purchase with an offer.
///
/// The cases are those of `SKError.Code` (StoreKit 1) and `Product.PurchaseError` (StoreKit 2) that concern offers.
/// Names with the same meaning share a case.
package enum StoreKitError: CaseIterable, Hashable, Sendable {
    case invalidSignature
    case missingOfferParams
    case invalidOfferIdentifier
    case invalidOfferPrice
    case ineligibleForOffer
    case unauthorizedRequestData
    case productUnavailable
    case purchaseNotAllowed
    case invalidQuantity
    case seatsNotSold
    case fewerSeatsRefused
    case unspecific

    /// StoreKit's names. Explanations use the first one.
    package var names: [String] {
        switch self {
        case .invalidSignature: ["invalidSignature", "invalidOfferSignature"]
        case .missingOfferParams: ["missingOfferParams", "missingOfferParameters"]
        case .invalidOfferIdentifier: ["invalidOfferIdentifier"]
        case .invalidOfferPrice: ["invalidOfferPrice"]
        case .ineligibleForOffer: ["ineligibleForOffer"]
        case .unauthorizedRequestData: ["unauthorizedRequestData"]
        case .productUnavailable: ["productUnavailable", "storeProductNotAvailable"]
        case .purchaseNotAllowed: ["purchaseNotAllowed", "paymentNotAllowed"]
        case .invalidQuantity: ["invalidQuantity"]
        case .seatsNotSold: ["multiSeatPurchaseDisabled"]
        case .fewerSeatsRefused: ["seatReductionNotAllowed"]
        case .unspecific: ["unknown", "paymentInvalid", "clientInvalid"]
        }
    }

    /// The raw values of `SKError.Code`.
    package var codes: [String] {
        switch self {
        case .invalidSignature: ["12"]
        case .missingOfferParams: ["13"]
        case .invalidOfferIdentifier: ["11"]
        case .invalidOfferPrice: ["14"]
        case .ineligibleForOffer: ["18"]
        case .unauthorizedRequestData: ["10"]
        case .productUnavailable: ["5"]
        case .purchaseNotAllowed: ["4"]
        case .invalidQuantity, .seatsNotSold, .fewerSeatsRefused: []
        case .unspecific: ["0", "1", "3"]
        }
    }

    /// Advises what to check.
    /// - Parameter isGood: whether the presented signatures verify and have no defect.
    func check(isGood: Bool) -> String {
        switch self {
        case .invalidSignature where isGood:
            """
            The signature is valid for the values presented here, so check what it cannot prove. The app must pass \
            exactly these values. A nonce works for one purchase, even one that fails. The signature must not be older \
            than 24 hours, and the clock must be right. The key must belong to this team and not be revoked. Local \
            testing in Xcode accepts only Xcode's own key; the sandbox and the App Store accept only a key from App \
            Store Connect.
            """
        case .invalidSignature:
            "The App Store found the signature invalid: fix the cause named here, then request a new signature."
        case .missingOfferParams:
            """
            A parameter is missing or empty, most often applicationUsername, which must also be set on the payment. In \
            StoreKit 1 an empty username may not be enough: prefer a hashed username.
            """
        case .invalidOfferIdentifier:
            """
            The product has no such offer, or the offer was removed. Compare offerID with the Promotional Offer \
            Identifier in App Store Connect, letter by letter, for this product and this environment. An offer is for \
            one billing plan, and the app must buy with that plan.
            """
        case .invalidOfferPrice:
            "The price of the offer is no longer below the regular price. Check both prices in App Store Connect."
        case .ineligibleForOffer:
            """
            This customer is not eligible for the offer. A promotional offer is for current and former subscribers of \
            the app, in the environment of the purchase.
            """
        case .unauthorizedRequestData:
            "The app lacks the entitlement for its request. This is unrelated to the signature."
        case .productUnavailable:
            "The product is not available in this storefront. This is unrelated to the signature."
        case .purchaseNotAllowed:
            "This customer is not allowed to buy on this device. This is unrelated to the signature."
        case .invalidQuantity:
            """
            The quantity of the purchase is wrong. For a subscription it must be 1, except for seats. This is unrelated \
            to the signature.
            """
        case .seatsNotSold:
            "This product cannot be bought for several seats. This is unrelated to the signature."
        case .fewerSeatsRefused:
            "The customer cannot have fewer seats now. This is unrelated to the signature."
        case .unspecific:
            """
            StoreKit does not name the reason. An invalid signature often looks like this, and so does a sandbox \
            outage. \(isGood ? "The signature has no defect as presented." : "Fix the cause named here first.")
            """
        }
    }

    /// The advice for an error with any other name.
    static let checkOfUnknown = """
        StoreKit has no error with this name for rejected offers. Its errors for them are invalidSignature, \
        missingOfferParams, invalidOfferIdentifier, invalidOfferPrice and ineligibleForOffer.
        """
}
