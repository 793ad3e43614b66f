package import OfferCore

/// The payload of a JWS whose signature and certificates have been verified.
///
/// Only ``JWSVerifier`` creates one. It shows that Apple or Xcode signed the payload, but not the app or the kind of
/// payload.
package struct VerifiedPayload: Sendable {
    /// The JSON as signed.
    package let bytes: [UInt8]
    /// The parsed ``bytes``.
    package let members: JSONObject
    package let chain: VerifiedChain
    /// The time at which the certificates were valid, in seconds since 1970.
    package let effectiveDate: Int64
}
