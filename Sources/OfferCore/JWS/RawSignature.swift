/// An ECDSA P-256 signature in JWS form (RFC 7518 section 3.4): r and s, each a big-endian number of 32 bytes.
package struct RawSignature: Hashable, Sendable {
    /// 64 bytes: r, then s.
    package let bytes: [UInt8]

    private static let numberSize = 32

    /// - Returns: nil unless `bytes` has 64 bytes.
    package init?(bytes: [UInt8]) {
        guard bytes.count == 2 * Self.numberSize else { return nil }
        self.bytes = bytes
    }

    /// - Parameter der: `SEQUENCE { INTEGER r, INTEGER s }` in ASN.1 DER (X.690), with no trailing bytes.
    /// - Returns: nil for any other form, or if a number is zero, negative, longer than 32 bytes or not minimally
    ///   encoded.
    package init?(der: [UInt8]) {
        // Each number takes at most 2 + 33 bytes, so every length is a single byte below 0x80.
        guard der.count >= 2, der[0] == ECDSASignatureDER.sequence, der[1] < 0x80, Int(der[1]) == der.count - 2 else {
            return nil
        }
        var rest = der.dropFirst(2)
        guard let r = Self.takeNumber(from: &rest), let s = Self.takeNumber(from: &rest), rest.isEmpty else {
            return nil
        }
        bytes = r + s
    }

    /// True if r and s are above zero and below the order of P-256 (FIPS 186-5 section 6.4.2). Verification refuses all
    /// other signatures; this property explains the refusal.
    package var isInRange: Bool {
        [bytes[..<Self.numberSize], bytes[Self.numberSize...]].allSatisfy { number in
            number.contains { $0 != 0 } && number.lexicographicallyPrecedes(Self.order)
        }
    }

    /// The order of P-256's base point (SEC 2 section 2.4.2), big-endian.
    private static let order: [UInt8] = [
        0xFF, 0xFF, 0xFF, 0xFF, 0x00, 0x00, 0x00, 0x00, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF,
        0xBC, 0xE6, 0xFA, 0xAD, 0xA7, 0x17, 0x9E, 0x84, 0xF3, 0xB9, 0xCA, 0xC2, 0xFC, 0x63, 0x25, 0x51,
    ]

    /// The same signature in ASN.1 DER, at most 72 bytes.
    package var der: [UInt8] {
        ECDSASignatureDER.text(r: bytes[..<Self.numberSize], s: bytes[Self.numberSize...])
    }

    /// Removes an INTEGER from the front of `rest`.
    /// - Returns: its value in 32 bytes; nil if it is invalid.
    private static func takeNumber(from rest: inout ArraySlice<UInt8>) -> [UInt8]? {
        guard rest.popFirst() == ECDSASignatureDER.integer, let count = rest.popFirst(), (1...33).contains(count),
            rest.count >= count
        else { return nil }
        var number = rest.prefix(Int(count))
        rest = rest.dropFirst(Int(count))
        guard let first = number.first, first < 0x80 else { return nil }  // negative
        if first == 0 {
            number = number.dropFirst()
            // A leading zero is allowed only before a byte with the sign bit set. r and s are never zero.
            guard let next = number.first, next >= 0x80 else { return nil }
        }
        guard number.count <= numberSize else { return nil }
        return [UInt8](repeating: 0, count: numberSize - number.count) + number
    }
}
