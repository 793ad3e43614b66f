/// The escaping of text in HTML and SVG, between tags and in quoted values of attributes.
///
/// - `&`, `<`, `>`, `"` and `'` become character references.
/// - Control characters that HTML forbids become U+FFFD: C0 except tab, line feed and carriage return; DEL; C1.
/// - So do noncharacters, such as U+FFFE.
/// - So do the bidirectional embeddings, overrides and isolates (U+202A to U+202E, U+2066 to U+2069). With them, a
///   username could appear as another one, or reverse the text that follows. The marks U+200E, U+200F and U+061C stay:
///   texts in Arabic and Hebrew need them, and `<bdi>` confines their effect.
enum Escaping {
    static func append(_ text: String, to utf8: inout [UInt8]) {
        // Almost all text is plain, and is copied at once.
        guard text.utf8.contains(where: needsAttention) else { return utf8.append(contentsOf: text.utf8) }
        for scalar in text.unicodeScalars {
            switch scalar {
            case "&": utf8.append(contentsOf: "&amp;".utf8)
            case "<": utf8.append(contentsOf: "&lt;".utf8)
            case ">": utf8.append(contentsOf: "&gt;".utf8)
            case "\"": utf8.append(contentsOf: "&quot;".utf8)
            case "'": utf8.append(contentsOf: "&#39;".utf8)
            case _ where isForbidden(scalar): utf8.append(contentsOf: "\u{FFFD}".utf8)
            default: utf8.append(contentsOf: UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter)
            }
        }
    }

    /// Returns true for the bytes that are escaped, and for all bytes of the scalars that may be forbidden.
    private static func needsAttention(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "&"), UInt8(ascii: "<"), UInt8(ascii: ">"), UInt8(ascii: "\""), UInt8(ascii: "'"): true
        default: byte < 0x20 || byte >= 0x7F
        }
    }

    private static func isForbidden(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x09, 0x0A, 0x0D: false
        case 0x00..<0x20, 0x7F..<0xA0: true
        case 0x202A...0x202E, 0x2066...0x2069: true
        case 0xFDD0...0xFDEF: true
        default: scalar.value & 0xFFFE == 0xFFFE
        }
    }
}
