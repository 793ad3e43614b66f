/// Bytes as two hexadecimal digits each.
package enum Hexadecimal {
    /// - Returns: lower-case digits.
    package static func text(of bytes: [UInt8]) -> String {
        bytes.map { ($0 < 0x10 ? "0" : "") + String($0, radix: 16) }.joined()
    }

    /// - Returns: nil if `text` is not exactly that many bytes.
    package static func bytes(of text: String, count: Int) -> [UInt8]? {
        let digits = text.utf8.compactMap { Character(Unicode.Scalar($0)).hexDigitValue.map(UInt8.init) }
        guard digits.count == text.utf8.count, digits.count == 2 * count else { return nil }
        return stride(from: 0, to: digits.count, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }
    }
}
