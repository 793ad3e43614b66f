import OfferCore
import OfferCrypto

/// A JWS in compact form (RFC 7515 section 7.1) with the certificates of its signer. Nothing of it is verified.
struct SignedJWS {
    /// In bytes. The largest JWS of Apple's, a notification with two others in it, has about 20 kB. The bound leaves room
    /// for growth, and a JWS of this size still takes about as long to hash as a signature takes to verify.
    static let maximumSize = 256 * 1024

    /// The bytes that the signature covers: the first two parts as received.
    let signingInput: ArraySlice<UInt8>
    /// The certificates of `x5c` in DER, leaf first: one or three. The third one counts, but is never decoded.
    let certificates: [[UInt8]]
    /// The decoded second part.
    let payload: [UInt8]
    let signature: RawSignature

    init(_ text: [UInt8]) throws(VerificationFailure) {
        guard text.count <= Self.maximumSize else { throw VerificationFailure(.jwsTooLarge) }
        let parts = text.split(separator: UInt8(ascii: "."), maxSplits: 3, omittingEmptySubsequences: false)
        guard parts.count == 3 else { throw VerificationFailure(.jwsNotThreeParts) }
        guard let header = Base64URL.bytes(of: parts[0]), let payload = Base64URL.bytes(of: parts[1]),
            let signature = Base64URL.bytes(of: parts[2])
        else { throw VerificationFailure(.jwsNotBase64URL) }
        certificates = try JWSHeader.certificates(in: header)
        guard let signature = RawSignature(bytes: signature), signature.isInRange else {
            throw VerificationFailure(.signatureMalformed)
        }
        self.payload = payload
        self.signature = signature
        signingInput = text[..<(parts[2].startIndex - 1)]
    }
}
