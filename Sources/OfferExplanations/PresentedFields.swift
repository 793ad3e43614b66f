import OfferCore
import OfferEligibility

/// The values that an app passed to StoreKit with a V1 signature. They are evidence, so any text up to a size limit is
/// accepted unchanged.
package struct PresentedFields: Sendable {
    /// The presented strings. The customer is empty if none was presented.
    let texts: [PayloadField: [UInt8]]
    /// The names of the fields in the evidence.
    let names: [PayloadField: String]
    /// True if the customer is an `appAccountToken`, a UUID that the App Store converts to lower case.
    let hasToken: Bool
    /// The text of the signature, as presented.
    let signature: [UInt8]

    /// - Parameter members: the output of `offer-signer sign`, or a response from `/v1/promotional-offers`, which nests
    ///   the signature's fields in an object `signature`.
    init(_ members: JSONObject) throws(MemberError) {
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

    /// The payload as the App Store assembles it: UUIDs in lower case, the timestamp in decimal digits, the other
    /// fields unchanged.
    var payload: CandidatePayload {
        var payload = CandidatePayload(texts: texts)
        for field in hasToken ? [.customer, .nonce] : [PayloadField.nonce] {
            if let uuid = UUIDText(parsing: payload[field]) { payload[field] = uuid.utf8 }
        }
        if let milliseconds { payload[.timestamp] = Array(String(milliseconds).utf8) }
        return payload
    }

    /// The timestamp; nil unless it is a whole number in any notation.
    var milliseconds: Int64? {
        let text = String(decoding: texts[.timestamp] ?? [], as: UTF8.self)
        return Int64(text) ?? Double(text).flatMap { Int64(exactly: $0) }
    }

    /// True if the timestamp must be in seconds: as milliseconds it would be before March 1973.
    var isInSeconds: Bool { milliseconds.map { (0..<100_000_000_000).contains($0) } ?? false }
}
