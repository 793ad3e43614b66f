/// An ECDSA P-256 signature as a JWS has it (RFC 7518 section 3.4): r and s, each a big-endian number of 32 bytes.
package struct RawSignature: Hashable, Sendable {
    /// 64 of them.
    package let bytes: [UInt8]

    private static let numberSize = 32

    /// - Returns: nil if there are not 64 bytes.
    package init?(bytes: [UInt8]) {
        guard bytes.count == 2 * Self.numberSize else { return nil }
        self.bytes = bytes
    }

    /// - Parameter der: `SEQUENCE { INTEGER r, INTEGER s }` in ASN.1 DER (X.690), with nothing behind it.
    /// - Returns: nil for anything else: a number that is zero, negative, of more than 32 bytes or written longer than
    ///   it has to be, or a length in another form.
    package init?(der: [UInt8]) {
        // At most 2 + 33 bytes a number, so every length is a single byte below 0x80.
        guard der.count >= 2, der[0] == Self.sequence, der[1] < 0x80, Int(der[1]) == der.count - 2 else { return nil }
        var rest = der.dropFirst(2)
        guard let r = Self.takeNumber(from: &rest), let s = Self.takeNumber(from: &rest), rest.isEmpty else {
            return nil
        }
        bytes = r + s
    }

    /// The same signature in ASN.1 DER, of at most 72 bytes.
    package var der: [UInt8] {
        let numbers = Self.integer(bytes[..<Self.numberSize]) + Self.integer(bytes[Self.numberSize...])
        return [Self.sequence, UInt8(numbers.count)] + numbers
    }

    private static let sequence: UInt8 = 0x30
    private static let integer: UInt8 = 0x02

    /// Takes an INTEGER off `rest`.
    /// - Returns: its number in 32 bytes.
    private static func takeNumber(from rest: inout ArraySlice<UInt8>) -> [UInt8]? {
        guard rest.popFirst() == integer, let count = rest.popFirst(), (1...33).contains(count), rest.count >= count
        else { return nil }
        var number = rest.prefix(Int(count))
        rest = rest.dropFirst(Int(count))
        guard let first = number.first, first < 0x80 else { return nil }  // negative
        if first == 0 {
            number = number.dropFirst()
            // The zero only keeps the next byte from being a sign. Zero itself is no number of a signature.
            guard let next = number.first, next >= 0x80 else { return nil }
        }
        guard number.count <= numberSize else { return nil }
        return [UInt8](repeating: 0, count: numberSize - number.count) + number
    }

    private static func integer(_ number: ArraySlice<UInt8>) -> [UInt8] {
        let digits = number.drop { $0 == 0 }
        // DER writes zero as one zero byte, and keeps a first bit that is set from being a sign.
        let padding: [UInt8] = digits.first.map { $0 >= 0x80 } ?? true ? [0] : []
        return [integer, UInt8(padding.count + digits.count)] + padding + digits
    }
}
