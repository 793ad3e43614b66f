/// Text for display, with invisible characters spelled out.
enum ReadableText {
    /// Spells out control characters, invisible and blank characters and unusual spaces, as in `<U+200B>`.
    static func marked(_ utf8: [UInt8]) -> String {
        var text = ""
        for scalar in String(decoding: utf8, as: UTF8.self).unicodeScalars {
            if isVisible(scalar) { text.unicodeScalars.append(scalar) } else { text += mark(scalar) }
        }
        return text
    }

    static func mark(_ scalar: Unicode.Scalar) -> String {
        let digits = String(scalar.value, radix: 16, uppercase: true)
        return "<U+" + String(repeating: "0", count: max(0, 4 - digits.count)) + digits + ">"
    }

    /// Removes characters that are invisible or look like a space; text copied from a web page may contain them.
    /// Characters that are forbidden in fields remain, because they have their own cause.
    static func withoutInvisible(_ utf8: [UInt8]) -> [UInt8] {
        if utf8.allSatisfy({ $0 < 0x80 }) { return utf8 }
        var text = String.UnicodeScalarView()
        for scalar in String(decoding: utf8, as: UTF8.self).unicodeScalars {
            if isVisible(scalar) || FieldDefects.hasForbiddenCharacter(Array(String(scalar).utf8)) {
                text.append(scalar)
            }
        }
        return Array(String(text).utf8)
    }

    /// Symbols that look like a space: the blank Braille pattern and the musical symbol null notehead.
    private static let blanks: Set<Unicode.Scalar> = ["\u{2800}", "\u{1D159}"]

    private static func isVisible(_ scalar: Unicode.Scalar) -> Bool {
        guard !scalar.properties.isDefaultIgnorableCodePoint, !blanks.contains(scalar) else { return false }
        return switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .unassigned, .privateUse: false
        case .spaceSeparator: scalar == " "
        default: true
        }
    }
}
