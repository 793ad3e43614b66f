import FoundationEssentials
package import OfferCore

/// What an app passed to StoreKit, presented to be verified: the fields of the payload and a signature over them.
package struct PresentedOffer: Sendable {
    package let payload: OfferPayload
    /// What the base64 text decodes to; ASN.1 DER if the signature is one.
    package let signature: [UInt8]

    /// - Parameter members: the output of `offer-signer sign`, or the answer of `/v1/promotional-offers`, where the
    ///   signature's own fields stand in an object `signature`.
    package init(_ members: JSONObject) throws(Problem) {
        let fields = MemberReader(members)
        let signatureFields: MemberReader
        if case .object(let object) = members["signature"] {
            signatureFields = MemberReader(object)
        } else {
            signatureFields = fields
        }
        payload = OfferPayload(
            appBundleID: try fields.field("appBundleID", or: "bundleID", BundleID.init),
            keyID: try signatureFields.field("keyID", KeyID.init),
            productIdentifier: try fields.field("productIdentifier", or: "productID", ProductID.init),
            offerID: try fields.field("offerID", OfferID.init),
            customer: try fields.customer(),
            nonce: try signatureFields.field("nonce", Nonce.init),
            timestamp: Timestamp(milliseconds: try signatureFields.integer("timestamp"))
        )
        signature = try signatureFields.field("signature") { utf8, field throws(FieldError) in
            guard let decoded = Data(base64Encoded: Data(utf8)) else {
                throw FieldError(field: field, reason: .notBase64)
            }
            return [UInt8](decoded)
        }
    }

    /// The output of `offer-signer verify`: the verdict, and the payload it is about.
    package func verdict(verifies: Bool) -> [UInt8] {
        var writer = JSONWriter()
        writer.member("verifies", verifies)
        writer.member("payload", payload.readableText)
        return writer.finish()
    }
}
