import OfferCore

/// A JWS that verifies, in compact form (RFC 7515). Create one for each purchase.
public struct SignedJWS: Hashable, Sendable, CustomStringConvertible {
    /// The text that StoreKit takes as `compactJWS`.
    public let compactJWS: String
    /// The UUID in the claim `nonce`, in lower case.
    public let nonce: String

    /// The same as ``compactJWS``.
    public var description: String { compactJWS }

    init(_ jws: CompactJWS) {
        compactJWS = String(decoding: jws.text, as: UTF8.self)
        nonce = jws.content.nonce.description
    }
}
