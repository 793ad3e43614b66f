import OfferCore

/// Base64 in any flavour, and which flavour it is.
struct LenientBase64 {
    let bytes: [UInt8]
    /// Whether it has - or _ (RFC 4648 section 5).
    let hasURLAlphabet: Bool
    /// Whether it has + or / (RFC 4648 section 4).
    let hasStandardAlphabet: Bool
    /// How many = it has at its end.
    let paddingCount: Int
    /// Whether that is as many as standard base64 has.
    let isPadded: Bool
    /// Whether its last digit has bits that belong to no byte and are not zero, as no encoder writes it.
    let hasBitsLeft: Bool

    /// - Parameter text: without white space.
    /// - Returns: nil for other characters, for both alphabets at once, and for a length that no bytes have.
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
        let (digit62, digit63) = hasURLAlphabet ? ("-", "_") : ("+", "/") as (Unicode.Scalar, Unicode.Scalar)
        func decoded(mayLeaveBits: Bool) -> [UInt8]? {
            Base64Digits.bytes(
                of: Array(digits), UInt8(ascii: digit62), UInt8(ascii: digit63), mayLeaveBits: mayLeaveBits)
        }
        let strict = decoded(mayLeaveBits: false)
        guard let bytes = strict ?? decoded(mayLeaveBits: true) else { return nil }
        self.bytes = bytes
        hasBitsLeft = strict == nil
    }
}
