package import OfferCore

/// The payload of a JWS whose signature and certificates have been verified.
///
/// Only ``JWSVerifier`` makes one. It shows that Apple signed the payload, or Xcode. It does not show for which app, or what
/// kind of payload it is.
package struct VerifiedPayload: Sendable {
    /// As signed.
    package let bytes: [UInt8]
    /// The parsed ``bytes``.
    package let members: JSONObject
    package let chain: VerifiedChain
    /// The time at which the certificates were valid, in seconds since 1970.
    package let effectiveDate: Int64
}
