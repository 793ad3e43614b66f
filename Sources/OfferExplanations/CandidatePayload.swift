import OfferCore
import OfferCrypto

/// A string that a V1 signature may cover, assembled correctly or with mistakes.
struct CandidatePayload: Hashable, Sendable {
    enum Digest: Hashable, Sendable {
        case none
        /// The 32 bytes of SHA-256.
        case bytes
        /// SHA-256 in lower-case hexadecimal.
        case hexadecimal
    }

    var texts: [PayloadField: [UInt8]]
    /// The fields in payload order. An omitted field is not listed.
    var order = PayloadField.allCases
    var separator = Separator.standard
    /// The text before the first field.
    var prefix: [UInt8] = []
    /// The text after the last field.
    var suffix: [UInt8] = []
    var digest = Digest.none
    /// The hash function of the signature.
    var signatureDigest = SignatureDigest.sha256

    subscript(field: PayloadField) -> [UInt8] {
        get { texts[field] ?? [] }
        set { texts[field] = newValue }
    }

    /// Returns true if both payloads have the same text. Their signatures may use different hash functions.
    func hasText(of other: CandidatePayload) -> Bool {
        var own = self
        own.signatureDigest = other.signatureDigest
        return own == other
    }

    /// Assembles the input to the signing function.
    func bytes() throws -> [UInt8] {
        let text = prefix + Array(order.map { self[$0] }.joined(separator: separator.utf8)) + suffix
        return switch digest {
        case .none: text
        case .bytes: try SHA256.hash(text)
        case .hexadecimal: Array(Hexadecimal.text(of: try SHA256.hash(text)).utf8)
        }
    }

    /// The text with `|` in place of each U+2063 between fields. Any other separator appears as its ``Separator/mark``.
    var readableText: String {
        let fields = order.map { ReadableText.marked(self[$0]) }.joined(separator: separator.mark)
        let text = ReadableText.marked(prefix) + fields + ReadableText.marked(suffix)
        return switch digest {
        case .none: text
        case .bytes: "SHA-256(\(text))"
        case .hexadecimal: "hexadecimal(SHA-256(\(text)))"
        }
    }
}

/// The text between two fields.
struct Separator: Hashable, Sendable {
    let utf8: [UInt8]
    /// The readable form: `|` for the correct separator.
    let mark: String

    private init(_ text: String, mark: String? = nil) {
        utf8 = Array(text.utf8)
        self.mark = mark ?? text.unicodeScalars.map(ReadableText.mark).joined()
    }

    /// U+2063.
    static let standard = Separator("\u{2063}", mark: "|")

    /// Separators used by mistake, likeliest first.
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

    /// Wrong separators that are also tried in combination with another mistake.
    static let common = others.prefix(7)
}
