package import OfferCore

/// The payload of a JWS with a verified signature and verified certificates.
///
/// Only ``JWSVerifier`` creates one. It proves that Apple or Xcode signed the payload, but not that the app or the kind
/// of payload is the expected one.
package struct VerifiedPayload: Sendable {
    /// The JSON as signed.
    package let bytes: [UInt8]
    /// The parsed ``bytes``.
    package let members: JSONObject
    package let chain: VerifiedChain
    /// The time at which the certificates were valid, in seconds since 1970.
    package let effectiveDate: Int64
}
