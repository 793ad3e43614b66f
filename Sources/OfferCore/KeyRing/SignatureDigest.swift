/// A hash function that an ECDSA signature may use. The App Store accepts only SHA-256; the others are used to explain
/// why a signature is rejected.
package enum SignatureDigest: CaseIterable, Hashable, Sendable {
    case sha1
    case sha224
    case sha256
    case sha384
    case sha512
}
