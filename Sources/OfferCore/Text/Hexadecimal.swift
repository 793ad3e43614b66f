/// Hexadecimal encoding, two digits per byte.
package enum Hexadecimal {
    /// - Returns: lower-case digits.
    package static func text(of bytes: [UInt8]) -> String { String(decoding: utf8(of: bytes), as: UTF8.self) }

    /// Encodes bytes in lower-case digits, as ASCII.
    package static func utf8(of bytes: [UInt8]) -> [UInt8] {
        var digits: [UInt8] = []
        digits.reserveCapacity(2 * bytes.count)
        append(bytes, to: &digits)
        return digits
    }

    /// Appends bytes in lower-case digits to `text`.
    package static func append(_ bytes: [UInt8], to text: inout [UInt8]) {
        for byte in bytes {
            text.append(digit(byte >> 4))
            text.append(digit(byte & 0xF))
        }
    }

    private static func digit(_ value: UInt8) -> UInt8 {
        value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "a") + value - 10
    }

    /// - Returns: 16 lower-case digits.
    package static func text(of number: UInt64) -> String {
        var digits = InlineArray<16, UInt8>(repeating: UInt8(ascii: "0"))
        var rest = number
        for index in digits.indices.reversed() {
            let digit = UInt8(truncatingIfNeeded: rest & 0xF)
            digits[index] = digit + (digit < 10 ? UInt8(ascii: "0") : UInt8(ascii: "a") - 10)
            rest >>= 4
        }
        // Every request calls this, so it avoids an intermediate array. ASCII is valid UTF-8.
        guard let utf8 = try? UTF8Span(validating: digits.span) else { return "" }
        return String(copying: utf8)
    }

    /// Decodes digits in either letter case.
    /// - Returns: nil unless `text` encodes exactly `count` bytes.
    package static func bytes(of text: String, count: Int) -> [UInt8]? {
        let digits = text.utf8.compactMap { Character(Unicode.Scalar($0)).hexDigitValue.map(UInt8.init) }
        guard digits.count == text.utf8.count, digits.count == 2 * count else { return nil }
        return stride(from: 0, to: digits.count, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }
    }
}
