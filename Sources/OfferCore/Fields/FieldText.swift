/// The text of one field of a signed payload: valid UTF-8 of a bounded size, without separators or control characters,
/// and not only white space.
///
/// The bytes are stored as received, because exactly those bytes are signed. `String` compares by canonical
/// equivalence, which can treat strings with different bytes as equal. Foundation's string search misses a separator
/// that is followed by a combining mark.
package struct FieldText: Hashable, Sendable {
    package let utf8: [UInt8]

    /// - Parameters:
    ///   - utf8: the text as received; nothing is trimmed or normalised.
    ///   - field: the caller's name for the field.
    ///   - sizes: the allowed sizes in bytes.
    package init(utf8: [UInt8], field: String, sizes: ClosedRange<Int>) throws(FieldError) {
        guard utf8.count <= sizes.upperBound else {
            throw FieldError(field: field, reason: .tooLong(maximumBytes: sizes.upperBound))
        }
        guard utf8.count >= sizes.lowerBound else { throw FieldError(field: field, reason: .empty) }
        guard (try? UTF8Span(validating: utf8.span)) != nil else { throw FieldError(field: field, reason: .notUTF8) }
        if let reason = Self.forbiddenScalar(in: utf8) { throw FieldError(field: field, reason: reason) }
        guard !Self.isBlank(utf8) else { throw FieldError(field: field, reason: .blank) }
        self.utf8 = utf8
    }

    /// Returns true if valid UTF-8 consists of one or more Unicode white space characters. An identifier never does,
    /// but a form or template may send them for a missing value.
    package static func isBlank(_ utf8: [UInt8]) -> Bool {
        // Nearly every text begins with a visible ASCII character.
        guard let first = utf8.first, first <= 0x20 || first >= 0x80 else { return false }
        return String(decoding: utf8, as: UTF8.self).unicodeScalars.allSatisfy(\.properties.isWhitespace)
    }

    /// Finds the first forbidden Unicode scalar.
    ///
    /// UTF-8 is self-synchronising: in valid UTF-8, each byte sequence below occurs only as the scalar named in its
    /// comment. A bytewise search is therefore exact, and combining marks cannot hide a match.
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
    /// Hashes a string eight bytes at a time. `Array` hashes byte by byte, and signing an offer looks up a dozen strings.
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
