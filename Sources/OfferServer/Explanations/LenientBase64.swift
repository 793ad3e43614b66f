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
        var bytes: [UInt8] = []
        var bits: UInt32 = 0
        var bitCount: UInt32 = 0
        for digit in digits {
            guard let value = Self.value(of: digit) else { return nil }
            bits = bits << 6 | UInt32(value)
            bitCount += 6
            guard bitCount >= 8 else { continue }
            bitCount -= 8
            bytes.append(UInt8(truncatingIfNeeded: bits >> bitCount))
        }
        self.bytes = bytes
    }

    private static func value(of digit: UInt8) -> UInt8? {
        switch digit {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): digit - UInt8(ascii: "A")
        case UInt8(ascii: "a")...UInt8(ascii: "z"): digit - UInt8(ascii: "a") + 26
        case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0") + 52
        case UInt8(ascii: "+"), UInt8(ascii: "-"): 62
        case UInt8(ascii: "/"), UInt8(ascii: "_"): 63
        default: nil
        }
    }
}
