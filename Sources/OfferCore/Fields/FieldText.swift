/// A text that may stand as one field of a signed payload: valid UTF-8 of a bounded size, without the separator and
/// without control characters.
///
/// It is kept as the bytes that arrived, because those bytes are what gets signed. `String` would compare by canonical
/// equivalence, under which texts with different bytes are equal, and Foundation's string search misses a separator
/// that a combining mark follows.
package struct FieldText: Hashable, Sendable {
    package let utf8: [UInt8]

    /// - Parameters:
    ///   - utf8: the text as it arrived; nothing is trimmed or normalised.
    ///   - field: what the caller calls the field.
    ///   - sizes: how many bytes it may have.
    package init(utf8: [UInt8], field: String, sizes: ClosedRange<Int>) throws(FieldError) {
        guard utf8.count <= sizes.upperBound else {
            throw FieldError(field: field, reason: .tooLong(maximumBytes: sizes.upperBound))
        }
        guard utf8.count >= sizes.lowerBound else { throw FieldError(field: field, reason: .empty) }
        guard (try? UTF8Span(validating: utf8.span)) != nil else { throw FieldError(field: field, reason: .notUTF8) }
        if let reason = Self.forbiddenScalar(in: utf8) { throw FieldError(field: field, reason: reason) }
        self.utf8 = utf8
    }

    /// Finds the first forbidden Unicode scalar.
    ///
    /// UTF-8 is self-synchronising: in valid UTF-8 these byte sequences occur as nothing but the scalars beside them, so
    /// looking at bytes is looking at scalars, whatever combining mark follows.
    private static func forbiddenScalar(in utf8: [UInt8]) -> FieldError.Reason? {
        for index in utf8.indices {
            switch utf8[index] {
            case 0x00...0x1F, 0x7F:  // C0 and DEL
                return .controlCharacter
            case 0xC2 where (0x80...0x9F).contains(utf8[index + 1]):  // C1: U+0080 to U+009F
                return .controlCharacter
            case 0xE2 where utf8[index + 1] == 0x80 && (0xA8...0xA9).contains(utf8[index + 2]):  // U+2028, U+2029
                return .controlCharacter
            case 0xE2 where utf8[index + 1] == 0x81 && utf8[index + 2] == 0xA3:  // U+2063
                return .separator
            default:
                continue
            }
        }
        return nil
    }
}

extension FieldText {
    package func hash(into hasher: inout Hasher) { hasher.combine(text: utf8) }
}

extension Hasher {
    /// Mixes in a text, eight bytes at a time: an array does it byte by byte, and each offer looks a dozen texts up.
    package mutating func combine(text: [UInt8]) {
        var word: UInt64 = 0
        for index in text.indices {
            word = word << 8 | UInt64(text[index])
            if index & 7 == 7 { combine(word) }
        }
        combine(word)
        combine(text.count)
    }
}

extension FieldText: CustomStringConvertible {
    package var description: String { String(decoding: utf8, as: UTF8.self) }
}
