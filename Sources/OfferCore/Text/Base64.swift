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
        return Base64Digits.bytes(of: Array(text.dropLast(padding)), .standard)
    }

    fileprivate static let alphabet = [UInt8]("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
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
        Base64Digits.bytes(of: Array(text), .url)
    }

    fileprivate static let alphabet = [UInt8]("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)
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
    ///   - text: the encoded text without padding.
    ///   - values: the values of the alphabet.
    ///   - mayLeaveBits: true if leftover bits may be other than zero.
    package static func bytes(of text: [UInt8], _ values: Values, mayLeaveBits: Bool = false) -> [UInt8]? {
        let rest = text.count % 4
        guard rest != 1 else { return nil }
        var bytes = [UInt8](repeating: 0, count: text.count * 3 / 4)
        // The union of the bits of all values. Checking it once at the end is faster than a branch for each character.
        var seen: UInt8 = 0
        var (start, end) = (0, 0)
        let (text, values) = (text.span, values.byCharacter.span)
        var output = bytes.mutableSpan
        /// Returns the bits of `count` characters from `start` on, in the upper part of 24 bits.
        func bits(_ count: Int) -> UInt32 {
            var bits: UInt32 = 0
            for offset in 0..<count {
                let value = values[Int(text[start + offset])]
                seen |= value
                bits |= UInt32(value) << UInt32(18 - 6 * offset)
            }
            return bits
        }
        while start + 4 <= text.count {
            let bits = bits(4)
            output[end] = UInt8(truncatingIfNeeded: bits >> 16)
            output[end + 1] = UInt8(truncatingIfNeeded: bits >> 8)
            output[end + 2] = UInt8(truncatingIfNeeded: bits)
            start += 4
            end += 3
        }
        var leftover: UInt32 = 0
        if rest > 0 {
            let bits = bits(rest)
            output[end] = UInt8(truncatingIfNeeded: bits >> 16)
            if rest == 3 { output[end + 1] = UInt8(truncatingIfNeeded: bits >> 8) }
            leftover = rest == 3 ? bits & 0xFF : bits & 0xFFFF
        }
        guard seen & Values.invalid == 0, leftover == 0 || mayLeaveBits else { return nil }
        return bytes
    }

    /// The value of each character of an alphabet.
    package struct Values: Sendable {
        /// 256 elements.
        fileprivate let byCharacter: [UInt8]

        /// The value of characters outside the alphabet.
        fileprivate static let invalid: UInt8 = 0x80

        package static let standard = Values(Base64.alphabet)
        package static let url = Values(Base64URL.alphabet)

        private init(_ alphabet: [UInt8]) {
            var values = [UInt8](repeating: Self.invalid, count: 256)
            for (value, character) in alphabet.enumerated() { values[Int(character)] = UInt8(value) }
            byCharacter = values
        }
    }
}
