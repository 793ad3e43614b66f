/// Signed text for the eye: what cannot be seen is written out.
enum ReadableText {
    /// - Parameter utf8: as it was presented.
    /// - Returns: control characters, invisible and blank ones and unusual spaces as `<U+200B>`.
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

    /// The text without characters that look like nothing or like a space, as a copy from a page may have them. Those that no
    /// field may have are left: they have a cause of their own.
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

    /// Symbols that look like a space: a Braille pattern without dots, and a note without a head.
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
