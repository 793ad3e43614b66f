import OfferCore

/// A way to put the text together that a V1 signature covers: the right one, or one of the wrong ones.
struct SignedForm: Hashable, Sendable {
    enum Digest: Hashable, Sendable {
        case none
        /// The 32 bytes of SHA-256.
        case bytes
        /// The same in lower-case hexadecimal.
        case hexadecimal
    }

    var texts: [PayloadField: [UInt8]]
    /// Fields that are left out have no place in it.
    var order = PayloadField.allCases
    var separator = Separator.standard
    /// What stands before and behind.
    var start: [UInt8] = []
    var end: [UInt8] = []
    var digest = Digest.none

    subscript(field: PayloadField) -> [UInt8] {
        get { texts[field] ?? [] }
        set { texts[field] = newValue }
    }

    /// What the signing function was given.
    func bytes(sha256: ([UInt8]) throws -> [UInt8]) rethrows -> [UInt8] {
        let text = start + Array(order.map { self[$0] }.joined(separator: separator.utf8)) + end
        return switch digest {
        case .none: text
        case .bytes: try sha256(text)
        case .hexadecimal: Array(Hexadecimal.text(of: try sha256(text)).utf8)
        }
    }

    /// The text with each U+2063 between fields as `|`, and any other separator by its name.
    var readableText: String {
        let fields = order.map { ReadableText.marked(self[$0]) }.joined(separator: separator.mark)
        let text = ReadableText.marked(start) + fields + ReadableText.marked(end)
        return switch digest {
        case .none: text
        case .bytes: "SHA-256(\(text))"
        case .hexadecimal: "hexadecimal(SHA-256(\(text)))"
        }
    }
}

/// What joins the fields.
struct Separator: Hashable, Sendable {
    let utf8: [UInt8]
    /// How a person reads it: `|` for the right one.
    let mark: String

    private init(_ text: String, mark: String? = nil) {
        utf8 = Array(text.utf8)
        self.mark = mark ?? text.unicodeScalars.map(ReadableText.mark).joined()
    }

    /// U+2063.
    static let standard = Separator("\u{2063}", mark: "|")

    /// What is found in its place, the likeliest first.
    static let others = [
        Separator("", mark: "<nothing>"), Separator("|"), Separator(","), Separator(" "),
        Separator("\\u2063", mark: "<\\u2063>"), Separator("\u{200B}"), Separator("\n"), Separator("\u{2062}"),
        Separator("\u{2064}"), Separator("\u{2060}"), Separator("\\u{2063}", mark: "<\\u{2063}>"),
        Separator("\u{FEFF}"), Separator("\u{200D}"), Separator("\u{A0}"), Separator("\t"), Separator("\r\n"),
        Separator("\0"), Separator(":"), Separator(";"), Separator("."), Separator("-"), Separator("_"), Separator("&"),
        Separator(", "), Separator("&#8291;", mark: "<&#8291;>"), Separator("%E2%81%A3", mark: "<%E2%81%A3>"),
        // The three bytes of U+2063 read as Latin-1 and written as UTF-8.
        Separator("\u{E2}\u{81}\u{A3}"),
    ]

    /// Those that are tried together with other variations.
    static let common = others.prefix(7)
}
