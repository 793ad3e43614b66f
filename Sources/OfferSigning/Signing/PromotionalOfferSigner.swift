import FoundationEssentials
package import OfferCore
import OfferCrypto

/// Signs promotional offers for StoreKit 1 and for StoreKit 2 before iOS 26: the fields of an offer, joined by U+2063.
///
/// The app passes the four values of ``SignedOffer`` to `SKPaymentDiscount` or to `Product.SubscriptionOffer.Signature`.
/// For the `compactJWS` options of StoreKit 2, see ``JWSSigner``.
public struct PromotionalOfferSigner: Sendable {
    private let key: SigningKey
    private let bundleID: BundleID

    /// - Parameters:
    ///   - key: the key that signs.
    ///   - bundleID: the app's bundle ID, with the letter case of App Store Connect.
    /// - Throws: ``SigningFailure`` with the code `invalid_field`.
    public init(key: SigningKey, bundleID: String) throws(SigningFailure) {
        self.key = key
        self.bundleID = try SigningFailure.checking { () throws(FieldError) in
            try BundleID(utf8: Array(bundleID.utf8), field: "bundleID")
        }
    }

    /// Signs an offer for one purchase, and verifies the signature with the public key. It takes less than a tenth of a
    /// millisecond, so call it anywhere.
    ///
    /// Sign when the customer taps. A signature is spent by one attempt, even one that fails.
    /// - Parameters:
    ///   - productID: the product ID of the subscription.
    ///   - offerID: the promotional offer's ID, as in App Store Connect.
    ///   - account: the account that the app attaches to the purchase.
    public func sign(
        productID: String, offerID: String, for account: Account
    ) throws(SigningFailure) -> SignedOffer {
        try sign(productID: productID, offerID: offerID, for: account, nonce: .random(), at: Timestamp(Date()))
    }

    package func sign(
        productID: String, offerID: String, for account: Account, nonce: Nonce, at timestamp: Timestamp
    ) throws(SigningFailure) -> SignedOffer {
        let payload = try SigningFailure.checking { () throws(FieldError) in
            OfferPayload(
                appBundleID: bundleID, keyID: key.id,
                productIdentifier: try ProductID(utf8: Array(productID.utf8), field: "productID"),
                offerID: try OfferID(utf8: Array(offerID.utf8)), customer: account.customer, nonce: nonce,
                timestamp: timestamp)
        }
        return SignedOffer(
            payload, try SigningFailure.signing { () throws(SigningFault) in try key.pair.signature(for: payload) })
    }
}

extension Nonce {
    static func random() -> Nonce {
        var random = SystemRandomNumbers()
        return Nonce(using: &random)
    }
}
