import OfferCore
import OfferCrypto

/// A JWS in compact form (RFC 7515 section 7.1) in its three parts. No part of it is verified.
struct SignedJWS {
    /// The maximum size in bytes. Apple's largest JWS, a notification that contains two others, has about 20 kB. The
    /// limit leaves room for growth. Reading this much takes about as long as verifying a few signatures.
    static let maximumSize = 256 * 1024

    /// The header as received, in base64url.
    let header: ArraySlice<UInt8>
    private let payloadText: ArraySlice<UInt8>
    private let signatureText: ArraySlice<UInt8>
    /// The bytes that the signature covers: the first two parts as received.
    let signingInput: [UInt8]

    init(_ text: [UInt8]) throws(VerificationFailure) {
        guard text.count <= Self.maximumSize else { throw VerificationFailure(.jwsTooLarge) }
        guard let first = text.firstIndex(of: Self.dot), let last = text.lastIndex(of: Self.dot), first < last,
            !text[(first + 1)..<last].contains(Self.dot)
        else { throw VerificationFailure(.jwsNotThreeParts) }
        header = text[..<first]
        payloadText = text[(first + 1)..<last]
        signatureText = text[(last + 1)...]
        signingInput = Array(text[..<last])
    }

    /// The certificates in the header; see ``JWSHeader/certificates(in:)``.
    var certificates: [[UInt8]] {
        get throws(VerificationFailure) { try JWSHeader.certificates(in: Self.decode(header)) }
    }

    /// The decoded payload.
    var payload: [UInt8] {
        get throws(VerificationFailure) { try Self.decode(payloadText) }
    }

    var signature: RawSignature {
        get throws(VerificationFailure) {
            guard let signature = RawSignature(bytes: try Self.decode(signatureText)), signature.isInRange else {
                throw VerificationFailure(.signatureMalformed)
            }
            return signature
        }
    }

    private static let dot = UInt8(ascii: ".")

    private static func decode(_ part: ArraySlice<UInt8>) throws(VerificationFailure) -> [UInt8] {
        guard let bytes = Base64URL.bytes(of: part) else { throw VerificationFailure(.jwsNotBase64URL) }
        return bytes
    }
}
