package import OfferCore

/// What is presented to be explained: what an app passed to StoreKit, and what StoreKit said.
package struct Evidence: Sendable {
    package enum Signature: Sendable {
        case v1(PresentedFields)
        case jws(PresentedToken)
    }

    package let signature: Signature
    /// One of StoreKit's names, or whatever came in its place.
    package let storeKitError: [UInt8]?

    /// - Parameter members: the members of the request's JSON object. Names that are not known are refused: a misspelt field
    ///   would otherwise be taken for one that the app left out.
    package init(_ members: JSONObject) throws(Problem) {
        if members["compactJWS"] == nil || members["signature"] != nil {
            try MemberReader(members).refuseOthers(
                than: Self.namesOfV1.union(Self.isNested(members) ? [] : Self.ofSignature))
            signature = .v1(try PresentedFields(members))
        } else {
            try MemberReader(members).refuseOthers(than: Self.namesOfJWS)
            signature = .jws(try PresentedToken(members))
        }
        storeKitError = try EvidenceReader(members).optionalText("storeKitError", maximumSize: 64)
    }

    /// Whether the signature's own fields stand in an object of their own.
    private static func isNested(_ members: JSONObject) -> Bool {
        if case .object = members["signature"] { true } else { false }
    }

    /// The bundle IDs that it names: what was asked for, and what was signed.
    var bundleIDs: [[UInt8]] {
        switch signature {
        case .v1(let fields): [fields.texts[.appBundleID]].compactMap(\.self)
        case .jws(let token): [token.expected.bundleID, token.text(ofClaim: "bid")].compactMap(\.self)
        }
    }

    /// The key ID that it names; nil if it names none.
    package var keyID: [UInt8]? {
        switch signature {
        case .v1(let fields): fields.texts[.keyID]
        case .jws(let token): token.keyID
        }
    }

    private static let fieldNames: Set<String> = [
        "appBundleID", "bundleID", "productIdentifier", "productID", "offerID", "applicationUsername",
        "appAccountToken",
        "transactionID", "storeKitError",
    ]

    /// `transactionID`, `expiresAt` and what is said of a JWS are there so that an answer of `/v1/promotional-offers` can be
    /// presented as it is. It is its signature that is explained then; a JWS is when it stands alone.
    private static let namesOfV1 = fieldNames.union(["signature", "expiresAt", "compactJWS", "compactJWSMissing"])

    private static let ofSignature: Set<String> = ["keyID", "nonce", "timestamp"]

    private static let namesOfJWS = fieldNames.union(["compactJWS", "keyID", "allowIntroductoryOffer"])
}
