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
        for start in stride(from: 0, to: der.count, by: 3) {
            let group = der[start..<min(start + 3, der.count)]
            var bits: UInt32 = 0
            for byte in group { bits = bits << 8 | UInt32(byte) }
            bits <<= 8 * UInt32(3 - group.count)
            for position in 0..<4 {
                let digit = Int(bits >> UInt32(18 - 6 * position)) & 0x3F
                text.append(position <= group.count ? Self.alphabet[digit] : UInt8(ascii: "="))
            }
        }
        return text
    }

    private static let alphabet = [UInt8]("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
}
