import FoundationEssentials
package import OfferCore

/// Signs the three kinds of JWS for App Store requests: promotional offers, introductory offers and Advanced Commerce.
///
/// The app passes the text of ``SignedJWS`` to StoreKit 2 unchanged.
public struct JWSSigner: Sendable {
    private let key: SigningKey
    private let bundleID: BundleID
    private let issuerID: IssuerID

    /// - Parameters:
    ///   - key: the key that signs.
    ///   - bundleID: the app's bundle ID, with the letter case of App Store Connect.
    ///   - issuerID: the UUID above the In-App Purchase keys in App Store Connect.
    /// - Throws: ``SigningFailure`` with the code `invalid_field`.
    public init(key: SigningKey, bundleID: String, issuerID: String) throws(SigningFailure) {
        self.key = key
        (self.bundleID, self.issuerID) = try SigningFailure.checking { () throws(FieldError) in
            (try BundleID(utf8: Array(bundleID.utf8), field: "bundleID"), try IssuerID(utf8: Array(issuerID.utf8)))
        }
    }

    /// Signs a promotional offer, for the purchase option `promotionalOffer(_:compactJWS:)`.
    /// - Parameters:
    ///   - productID: the product ID of the subscription.
    ///   - offerID: the promotional offer's ID, as in App Store Connect.
    ///   - transactionID: any transaction ID of the customer, or their `appTransactionID`. Without one, any customer of the app
    ///     can use the JWS.
    public func promotionalOffer(
        productID: String, offerID: String, transactionID: String?
    ) throws(SigningFailure) -> SignedJWS {
        try sign { () throws(FieldError) in
            .promotionalOffer(
                try ProductID(utf8: Array(productID.utf8), field: "productID"),
                try OfferID(utf8: Array(offerID.utf8)),
                try transactionID.map { text throws(FieldError) in try TransactionID(utf8: Array(text.utf8)) })
        }
    }

    /// Grants or withholds an introductory offer, for the purchase option `introductoryOfferEligibility(compactJWS:)`. It
    /// overrides the App Store's own decision.
    /// - Parameters:
    ///   - productID: the product ID of the subscription.
    ///   - isAllowed: true to grant the offer, false to withhold it.
    ///   - transactionID: any transaction ID of the customer, or their `appTransactionID`.
    public func introductoryOffer(
        productID: String, isAllowed: Bool, transactionID: String
    ) throws(SigningFailure) -> SignedJWS {
        try sign { () throws(FieldError) in
            .introductoryOfferEligibility(
                try ProductID(utf8: Array(productID.utf8), field: "productID"), allowed: isAllowed,
                try TransactionID(utf8: Array(transactionID.utf8)))
        }
    }

    /// Signs a request of the Advanced Commerce API.
    /// - Parameter json: the request, a JSON object in UTF-8. It is signed byte for byte.
    public func advancedCommerce(json: String) throws(SigningFailure) -> SignedJWS {
        guard let request = try? JSONObjectText(Array(json.utf8)) else {
            throw SigningFailure(.invalidField, field: "json", "json must be a JSON object.")
        }
        return try sign { .advancedCommerce(request) }
    }

    private func sign(_ request: () throws(FieldError) -> AppStoreRequest) throws(SigningFailure) -> SignedJWS {
        let request = try SigningFailure.checking(request)
        return try sign(request, nonce: .random(), at: Timestamp(Date()))
    }

    package func sign(
        _ request: AppStoreRequest, nonce: Nonce, at timestamp: Timestamp
    ) throws(SigningFailure) -> SignedJWS {
        let unsigned = UnsignedJWS(
            keyID: key.id, issuerID: issuerID, issuedAtSeconds: timestamp.milliseconds / 1000, bundleID: bundleID,
            nonce: nonce, request: request)
        return SignedJWS(
            try SigningFailure.signing { () throws(SigningFault) in try key.pair.compactJWS(for: unsigned) })
    }
}
