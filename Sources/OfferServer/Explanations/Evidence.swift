package import OfferCore

/// What is presented to be explained: what an app passed to StoreKit, and what StoreKit said.
package struct Evidence: Sendable {
    package enum Signature: Sendable {
        /// Perhaps with the JWS that came beside it, as in an answer of `/v1/promotional-offers`.
        case v1(PresentedFields, beside: PresentedToken?)
        case jws(PresentedToken)
    }

    package let signature: Signature
    /// One of StoreKit's names, or whatever came in its place.
    package let storeKitError: [UInt8]?

    /// - Parameter members: the members of the request's JSON object. Names that are not known are refused: a misspelt field
    ///   would otherwise be taken for one that the app left out.
    package init(_ members: JSONObject) throws(Problem) {
        let reader = EvidenceReader(members)
        let hasJWS = reader.has("compactJWS")
        if hasJWS, !reader.has("signature") {
            try reader.refuseOthers(than: Self.namesOfJWS, orNull: Self.ofSignature)
            signature = .jws(try PresentedToken(members, isBesideV1: false))
        } else {
            try reader.refuseOthers(than: Self.namesOfV1.union(Self.isNested(members) ? [] : Self.ofSignature))
            _ = try reader.optionalText("transactionID")  // of the JWS, if there is one
            signature = .v1(
                try PresentedFields(members), beside: hasJWS ? try PresentedToken(members, isBesideV1: true) : nil)
        }
        storeKitError = try reader.optionalText("storeKitError", maximumSize: 64)
    }

    /// Whether the signature's own fields stand in an object of their own.
    private static func isNested(_ members: JSONObject) -> Bool {
        if case .object = members["signature"] { true } else { false }
    }

    /// The bundle IDs that it names: what was asked for, and what was signed.
    var bundleIDs: [[UInt8]] {
        switch signature {
        case .v1(let fields, let token):
            [fields.texts[.appBundleID], token?.text(ofClaim: "bid")].compactMap(\.self)
        case .jws(let token): [token.expected.bundleID, token.text(ofClaim: "bid")].compactMap(\.self)
        }
    }

    /// The key ID that it names; nil if it names none.
    package var keyID: [UInt8]? {
        switch signature {
        case .v1(let fields, _): fields.texts[.keyID]
        case .jws(let token): token.keyID
        }
    }

    /// `expiresAt` and what a JWS lacks are there so that an answer of `/v1/promotional-offers` can be presented as it is.
    private static let fieldNames: Set<String> = [
        "appBundleID", "bundleID", "productIdentifier", "productID", "offerID", "applicationUsername",
        "appAccountToken", "transactionID", "compactJWS", "compactJWSMissing", "expiresAt", "storeKitError",
    ]

    private static let namesOfV1 = fieldNames.union(["signature"])

    /// Those that a V1 signature has; many a program writes them as null where there is none.
    private static let ofSignature: Set<String> = ["keyID", "nonce", "timestamp", "signature"]

    private static let namesOfJWS = fieldNames.union(["keyID", "allowIntroductoryOffer"])
}
