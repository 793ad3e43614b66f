package import OfferCore

/// A promotional offer with a signature that verifies.
///
/// As JSON, it has the members `keyID`, `nonce`, `timestamp` and `signature`: the answer of Apple's sample server, which apps
/// already read.
public struct SignedOffer: Hashable, Sendable, Encodable {
    package let payload: OfferPayload

    /// The ID of the key that signed.
    public let keyID: String
    /// A UUID in lower case, new for each signature.
    public let nonce: String
    /// The time of signing: Unix time in milliseconds. The App Store accepts the signature for 24 hours.
    public let timestamp: Int64
    /// The signature in base64 of ASN.1 DER. StoreKit 1 takes the text; StoreKit 2 takes the decoded bytes.
    public let signature: String

    init(_ payload: OfferPayload, _ signature: OfferSignature) {
        self.payload = payload
        keyID = payload.keyID.description
        nonce = payload.nonce.description
        timestamp = payload.timestamp.milliseconds
        self.signature = String(decoding: signature.base64, as: UTF8.self)
    }

    private enum CodingKeys: String, CodingKey { case keyID, nonce, timestamp, signature }
}
