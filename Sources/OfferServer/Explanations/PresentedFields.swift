import OfferCore

/// What an app passed to StoreKit with a V1 signature. The texts are evidence: whatever they are, they are taken as they came,
/// up to a size.
package struct PresentedFields: Sendable {
    /// As they came; the customer is empty where there was none.
    let texts: [PayloadField: [UInt8]]
    /// How the presenter spells each field.
    let names: [PayloadField: String]
    /// Whether the customer is a token, a UUID that the App Store puts in lower case.
    let hasToken: Bool
    /// The signature's text, as it came.
    let signature: [UInt8]

    /// - Parameter members: the output of `offer-signer sign`, or the answer of `/v1/promotional-offers`, where the
    ///   signature's own fields stand in an object `signature`.
    init(_ members: JSONObject) throws(Problem) {
        let fields = EvidenceReader(members)
        var signed = fields
        if case .object(let object) = members["signature"] {
            signed = EvidenceReader(object)
            try signed.refuseOthers(than: ["keyID", "nonce", "timestamp", "signature"])
        }
        let bundleID = try fields.text("appBundleID", or: "bundleID")
        let productID = try fields.text("productIdentifier", or: "productID")
        let customer = try fields.customer()
        texts = [
            .appBundleID: bundleID.text, .keyID: try signed.text("keyID"), .productIdentifier: productID.text,
            .offerID: try fields.text("offerID"), .customer: customer.text, .nonce: try signed.text("nonce"),
            .timestamp: try signed.digits("timestamp"),
        ]
        names = [
            .appBundleID: bundleID.name, .keyID: "keyID", .productIdentifier: productID.name, .offerID: "offerID",
            .customer: customer.name, .nonce: "nonce", .timestamp: "timestamp",
        ]
        hasToken = customer.name == "appAccountToken"
        signature = try signed.text("signature", maximumSize: 2048)
    }

    func name(_ field: PayloadField) -> String { names[field] ?? "" }

    /// The payload as the App Store puts it together: UUIDs in lower case, the timestamp in decimal digits, everything else as
    /// it is.
    var payload: SignedForm {
        var form = SignedForm(texts: texts)
        for field in hasToken ? [.customer, .nonce] : [PayloadField.nonce] {
            if let uuid = UUIDText(parsing: form[field]) { form[field] = uuid.utf8 }
        }
        if let milliseconds { form[.timestamp] = Array(String(milliseconds).utf8) }
        return form
    }

    /// The timestamp, if it is a whole number, however that is written.
    var milliseconds: Int64? {
        let text = String(decoding: texts[.timestamp] ?? [], as: UTF8.self)
        return Int64(text) ?? Double(text).flatMap { Int64(exactly: $0) }
    }

    /// Whether the timestamp can only be in seconds: as milliseconds it would be before March 1973.
    var isInSeconds: Bool { milliseconds.map { (0..<100_000_000_000).contains($0) } ?? false }
}
