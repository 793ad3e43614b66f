import OfferCore

/// A leniently decoded base64 string and its deviations from the standard. Either alphabet is accepted, with or without
/// padding.
struct LenientBase64 {
    let bytes: [UInt8]
    /// True if the text contains - or _ (RFC 4648 section 5).
    let hasURLAlphabet: Bool
    /// True if the text contains + or / (RFC 4648 section 4).
    let hasStandardAlphabet: Bool
    /// The number of trailing = characters.
    let paddingCount: Int
    /// True if the text has the padding that standard base64 requires.
    let isPadded: Bool
    /// True if the pad bits of the last digit are not zero (RFC 4648 section 3.5). No encoder produces that.
    let hasNonZeroPadBits: Bool

    /// - Parameter text: the text without white space.
    /// - Returns: nil for other characters, mixed alphabets or an impossible length.
    init?(_ text: some Collection<UInt8>) {
        let padding = UInt8(ascii: "=")
        let digits = Array(text).prefix { $0 != padding }
        let rest = text.dropFirst(digits.count)
        guard rest.count <= 3, rest.allSatisfy({ $0 == padding }), digits.count % 4 != 1, !digits.isEmpty else {
            return nil
        }
        hasURLAlphabet = digits.contains { $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: "_") }
        hasStandardAlphabet = digits.contains { $0 == UInt8(ascii: "+") || $0 == UInt8(ascii: "/") }
        guard !(hasURLAlphabet && hasStandardAlphabet) else { return nil }
        paddingCount = rest.count
        isPadded = rest.count == (4 - digits.count % 4) % 4
        let values: Base64Digits.Values = hasURLAlphabet ? .url : .standard
        func decoded(mayLeaveBits: Bool) -> [UInt8]? {
            Base64Digits.bytes(of: Array(digits), values, mayLeaveBits: mayLeaveBits)
        }
        let strict = decoded(mayLeaveBits: false)
        guard let bytes = strict ?? decoded(mayLeaveBits: true) else { return nil }
        self.bytes = bytes
        hasNonZeroPadBits = strict == nil
    }
}
