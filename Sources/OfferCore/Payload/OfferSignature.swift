/// An ECDSA P-256 signature over SHA-256 of a payload, in the form StoreKit takes.
package struct OfferSignature: Hashable, Sendable {
    /// ASN.1 DER, `SEQUENCE { INTEGER r, INTEGER s }`; at most 72 bytes.
    package let der: [UInt8]

    package init(der: [UInt8]) {
        self.der = der
    }

    /// `der` in standard base64 (RFC 4648 section 4) with padding, on one line: what goes over the wire.
    package var base64: [UInt8] {
        var text: [UInt8] = []
        text.reserveCapacity((der.count + 2) / 3 * 4)
        var start = 0
        while start + 2 < der.count {
            let bits = UInt32(der[start]) << 16 | UInt32(der[start + 1]) << 8 | UInt32(der[start + 2])
            text.append(Self.digit(bits >> 18))
            text.append(Self.digit(bits >> 12))
            text.append(Self.digit(bits >> 6))
            text.append(Self.digit(bits))
            start += 3
        }
        switch der.count - start {
        case 1:
            let bits = UInt32(der[start]) << 16
            text += [Self.digit(bits >> 18), Self.digit(bits >> 12), UInt8(ascii: "="), UInt8(ascii: "=")]
        case 2:
            let bits = UInt32(der[start]) << 16 | UInt32(der[start + 1]) << 8
            text += [Self.digit(bits >> 18), Self.digit(bits >> 12), Self.digit(bits >> 6), UInt8(ascii: "=")]
        default: break
        }
        return text
    }

    /// The digit for the low six bits. By table: on random bits, branches would be guessed wrong half the time.
    private static func digit(_ bits: UInt32) -> UInt8 { alphabet[Int(bits & 0x3F)] }

    private static let alphabet = [UInt8]("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
}
