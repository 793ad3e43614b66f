package import OfferCore

/// The input to an explanation: the values that an app passed to StoreKit, and StoreKit's error.
package struct Evidence: Sendable {
    package enum Signature: Sendable {
        /// A V1 signature and the JWS that accompanies it, if any, as in a response from `/v1/promotional-offers`.
        case v1(PresentedFields, jws: PresentedToken?)
        case jws(PresentedToken)
    }

    package let signature: Signature
    /// The error as presented: a name, a code, the text of an `NSError`, or any other text.
    package let storeKitError: [UInt8]?
    /// The billing plan with which the app bought; nil if the evidence does not name it.
    let billingPlan: [UInt8]?

    /// - Parameter members: the members of the request's JSON object, under the names of this service or of
    ///   ``FrameworkNames``. Unknown names are rejected, because a misspelt field would look like an omitted one.
    package init(_ members: JSONObject) throws(MemberError) {
        let members = try FrameworkNames.translated(members)
        let reader = EvidenceReader(members)
        let hasJWS = reader.has("compactJWS")
        if hasJWS, !reader.has("signature") {
            try reader.refuseOthers(than: Self.jwsNames, orNull: Self.signatureNames)
            signature = .jws(try PresentedToken(members, accompaniesV1: false))
        } else {
            try reader.refuseOthers(than: Self.v1Names.union(Self.isNested(members) ? [] : Self.signatureNames))
            _ = try reader.optionalText("transactionID")  // belongs to the JWS, if there is one
            signature = .v1(
                try PresentedFields(members), jws: hasJWS ? try PresentedToken(members, accompaniesV1: true) : nil)
        }
        storeKitError = try reader.optionalText("storeKitError", maximumSize: 4096)
        billingPlan = try reader.optionalText("billingPlanType")
    }

    /// Returns true if the signature's fields are in a nested object.
    private static func isNested(_ members: JSONObject) -> Bool {
        if case .object = members["signature"] { true } else { false }
    }

    /// The bundle IDs in the evidence: the presented one and the one in the JWS.
    package var bundleIDs: [[UInt8]] {
        switch signature {
        case .v1(let fields, let token):
            [fields.texts[.appBundleID], token?.text(ofClaim: "bid")].compactMap(\.self)
        case .jws(let token): [token.expected.bundleID, token.text(ofClaim: "bid")].compactMap(\.self)
        }
    }

    /// The bundle ID, the product ID and the offer ID, as presented or as in the JWS; those that are missing are nil.
    var offer: (bundleID: [UInt8]?, productID: [UInt8]?, offerID: [UInt8]?) {
        switch signature {
        case .v1(let fields, _):
            (fields.texts[.appBundleID], fields.texts[.productIdentifier], fields.texts[.offerID])
        case .jws(let token):
            (token.text(ofClaim: "bid"), token.text(ofClaim: "productId"), token.text(ofClaim: "offerIdentifier"))
        }
    }

    /// The key ID that the evidence names, if any.
    package var keyID: [UInt8]? {
        switch signature {
        case .v1(let fields, _): fields.texts[.keyID]
        case .jws(let token): token.keyID
        }
    }

    /// The member names of both kinds of evidence. They include `billingPlanType`, `compactJWSMissing` and `expiresAt`, so a
    /// response from `/v1/promotional-offers` can be presented unchanged.
    private static let fieldNames: Set<String> = [
        "appBundleID", "bundleID", "productIdentifier", "productID", "offerID", "applicationUsername",
        "appAccountToken", "transactionID", "compactJWS", "compactJWSMissing", "expiresAt", "billingPlanType",
        "storeKitError",
    ]

    private static let v1Names = fieldNames.union(["signature"])

    /// The member names of a V1 signature. Many programs write them as null when there is no signature.
    private static let signatureNames: Set<String> = ["keyID", "nonce", "timestamp", "signature"]

    private static let jwsNames = fieldNames.union(["keyID", "allowIntroductoryOffer"])
}
