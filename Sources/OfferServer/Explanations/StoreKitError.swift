/// What StoreKit tells an app whose purchase with an offer failed: the cases of `SKError.Code` (StoreKit 1) and of
/// `Product.PurchaseError` (StoreKit 2) that have to do with offers. Two names of one meaning are one case.
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
    case unspecific

    /// StoreKit's names, the first being the one that is answered.
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
        case .unspecific: ["unknown", "paymentInvalid", "clientInvalid"]
        }
    }

    /// The raw values of `SKError.Code`.
    private var codes: [String] {
        switch self {
        case .invalidSignature: ["12"]
        case .missingOfferParams: ["13"]
        case .invalidOfferIdentifier: ["11"]
        case .invalidOfferPrice: ["14"]
        case .ineligibleForOffer: ["18"]
        case .unauthorizedRequestData: ["10"]
        case .productUnavailable: ["5"]
        case .purchaseNotAllowed: ["4"]
        case .invalidQuantity: []
        case .unspecific: ["0", "1", "3"]
        }
    }

    /// - Parameter text: a name with or without the type in front of it, such as `SKError.invalidSignature`,
    ///   `SKErrorInvalidSignature` or `.invalidSignature`, or a number of `SKError.Code`.
    package init?(_ text: String) {
        let last = text.split(separator: ".").last.map(String.init) ?? ""
        let name = (last.hasPrefix("SKError") ? String(last.dropFirst(7)) : last).lowercased()
        let found = Self.allCases.first { $0.codes.contains(name) || $0.names.contains { $0.lowercased() == name } }
        guard let found else { return nil }
        self = found
    }

    /// What to look at.
    /// - Parameter isGood: whether nothing was found wrong with what was presented.
    func check(isGood: Bool) -> String {
        switch self {
        case .invalidSignature where isGood:
            """
            The signature is good for what was presented here, so look at what is not in it: whether the app passes exactly these \
            values, whether the nonce was used before (a signature is good for one purchase, even one that fails), whether it was \
            older than 24 hours or the clock was wrong, and whether the key belongs to this team and is not revoked. In Xcode's local \
            testing only Xcode's own key is good, and in the sandbox and the App Store only a key from App Store Connect.
            """
        case .invalidSignature:
            "The App Store finds that the signature does not hold: mend the cause that is named here, then ask for a new signature."
        case .missingOfferParams:
            """
            A parameter is missing or empty, most often applicationUsername, which has to be set on the payment as well. In StoreKit 1 \
            an empty one may not be enough: prefer a hashed username.
            """
        case .invalidOfferIdentifier:
            """
            The product has no such offer, or it was removed: compare offerID with the Promotional Offer Identifier in App Store \
            Connect, letter by letter, for this product and this environment.
            """
        case .invalidOfferPrice:
            "The price of the offer is no longer below the regular price: look at both in App Store Connect."
        case .ineligibleForOffer:
            """
            This customer may not have the offer: a promotional offer is for those who have, or had, a subscription in the app, in the \
            environment of the purchase.
            """
        case .unauthorizedRequestData:
            "The app lacks the entitlement for what it asks. That has nothing to do with the signature."
        case .productUnavailable:
            "The product cannot be had in this storefront. That has nothing to do with the signature."
        case .purchaseNotAllowed:
            "This customer may not buy on this device. That has nothing to do with the signature."
        case .invalidQuantity:
            "The quantity of the purchase is wrong; of a subscription it is 1. That has nothing to do with the signature."
        case .unspecific:
            """
            StoreKit does not say what it is. A signature that does not hold often looks like this; so does a sandbox that is down. \
            \(isGood ? "Nothing is wrong with the signature as it was presented." : "Mend the cause that is named here first.")
            """
        }
    }

    /// What to say of a name that is none of these.
    static let checkOfUnknown = """
        This is no name that StoreKit has for a refused offer. Those are invalidSignature, missingOfferParams, \
        invalidOfferIdentifier, invalidOfferPrice and ineligibleForOffer.
        """
}
