/// Standard base64 (RFC 4648 section 4) with padding, on one line.
package enum Base64 {
    package static func text(of bytes: [UInt8]) -> [UInt8] {
        Base64Digits.text(of: bytes, alphabet: alphabet, padding: UInt8(ascii: "="))
    }

    /// Decodes canonical base64.
    /// - Returns: nil for any other input.
    package static func bytes(of text: some Collection<UInt8>) -> [UInt8]? {
        guard text.count % 4 == 0 else { return nil }
        let padding = text.suffix(2).reversed().prefix { $0 == UInt8(ascii: "=") }.count
        return Base64Digits.bytes(of: Array(text.dropLast(padding)), UInt8(ascii: "+"), UInt8(ascii: "/"))
    }

    private static let alphabet = [UInt8]("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
}

/// base64url without padding (RFC 4648 section 5), as used in tokens (RFC 7515 section 2).
package enum Base64URL {
    package static func text(of bytes: [UInt8]) -> [UInt8] {
        Base64Digits.text(of: bytes, alphabet: alphabet, padding: nil)
    }

    /// Decodes canonical base64url. Strict decoding does not make tokens unique: anyone can turn an ECDSA signature
    /// (r, s) into (r, n − s), which is also valid.
    /// - Returns: nil for a character outside the alphabet, an impossible length, or leftover bits that are not zero.
    package static func bytes(of text: some Collection<UInt8>) -> [UInt8]? {
        Base64Digits.bytes(of: Array(text), UInt8(ascii: "-"), UInt8(ascii: "_"))
    }

    private static let alphabet = [UInt8]("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)
}

/// The encoding and decoding shared by both alphabets.
package enum Base64Digits {
    /// - Parameter padding: nil for no padding.
    static func text(of bytes: [UInt8], alphabet: [UInt8], padding: UInt8?) -> [UInt8] {
        // Encodes the low six bits. A table avoids branches, half of which would be mispredicted on random bits.
        func digit(_ bits: UInt32) -> UInt8 { alphabet[Int(bits & 0x3F)] }
        var text: [UInt8] = []
        text.reserveCapacity((bytes.count + 2) / 3 * 4)
        var start = 0
        while start + 2 < bytes.count {
            let bits = UInt32(bytes[start]) << 16 | UInt32(bytes[start + 1]) << 8 | UInt32(bytes[start + 2])
            text.append(digit(bits >> 18))
            text.append(digit(bits >> 12))
            text.append(digit(bits >> 6))
            text.append(digit(bits))
            start += 3
        }
        let rest = bytes.count - start
        guard rest > 0 else { return text }
        let bits = UInt32(bytes[start]) << 16 | (rest == 2 ? UInt32(bytes[start + 1]) << 8 : 0)
        text.append(digit(bits >> 18))
        text.append(digit(bits >> 12))
        if rest == 2 { text.append(digit(bits >> 6)) }
        if let padding {
            text.append(padding)
            if rest == 1 { text.append(padding) }
        }
        return text
    }

    /// - Parameters:
    ///   - text: without padding.
    ///   - digit62: the second-to-last digit of the alphabet.
    ///   - digit63: the last digit of the alphabet.
    ///   - mayLeaveBits: whether leftover bits may be nonzero.
    package static func bytes(
        of text: [UInt8], _ digit62: UInt8, _ digit63: UInt8, mayLeaveBits: Bool = false
    ) -> [UInt8]? {
        guard text.count % 4 != 1 else { return nil }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.count * 3 / 4)
        var bits: UInt32 = 0
        var bitCount: UInt32 = 0
        for character in text {
            guard let value = value(of: character, digit62, digit63) else { return nil }
            bits = bits << 6 | UInt32(value)
            bitCount += 6
            if bitCount >= 8 {
                bitCount -= 8
                bytes.append(UInt8(truncatingIfNeeded: bits >> bitCount))
            }
            bits &= (1 << bitCount) - 1
        }
        return bits == 0 || mayLeaveBits ? bytes : nil
    }

    private static func value(of character: UInt8, _ digit62: UInt8, _ digit63: UInt8) -> UInt8? {
        switch character {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): character - UInt8(ascii: "A")
        case UInt8(ascii: "a")...UInt8(ascii: "z"): character - UInt8(ascii: "a") + 26
        case UInt8(ascii: "0")...UInt8(ascii: "9"): character - UInt8(ascii: "0") + 52
        case digit62: 62
        case digit63: 63
        default: nil
        }
    }
}
