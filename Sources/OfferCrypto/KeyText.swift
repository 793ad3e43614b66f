/// The text of a private key, in any of the forms that environment variables and secret stores deliver.
enum KeyText {
    /// - Parameter form: the form of the text, for messages.
    case pem(SecretBytes, form: String)
    case der(SecretBytes, form: String)

    /// - Parameter text: PEM; PEM with the two characters `\n` in place of each line ending; or base64 of PEM or DER.
    /// - Returns: nil for any other text.
    init?(_ text: SecretBytes) {
        if Self.isPEM(text) {
            let pem = Self.withLineEnds(text)
            self = .pem(pem, form: pem.count == text.count ? "PEM" : "PEM with \\n written out")
        } else if let decoded = Self.base64Decoded(text) {
            self = Self.isPEM(decoded) ? .pem(decoded, form: "base64 of PEM") : .der(decoded, form: "base64 of DER")
        } else {
            return nil
        }
    }

    private static let beginning = Array("-----BEGIN ".utf8)

    private static func isPEM(_ text: SecretBytes) -> Bool {
        text.withSpan { bytes in
            guard bytes.count >= beginning.count else { return false }
            return (0...bytes.count - beginning.count).contains { start in
                beginning.indices.allSatisfy { bytes[start + $0] == beginning[$0] }
            }
        }
    }

    /// Replaces each `\n` with a line feed and removes each `\r`. PEM contains no backslashes, so both must stand for
    /// line endings.
    private static func withLineEnds(_ text: SecretBytes) -> SecretBytes {
        text.withSpan { bytes in
            SecretBytes(capacity: bytes.count) { pem in
                var (index, count) = (0, 0)
                while index < bytes.count {
                    var byte: UInt8? = bytes[index]
                    index += 1
                    if byte == UInt8(ascii: "\\"), index < bytes.count {
                        switch bytes[index] {
                        case UInt8(ascii: "n"): (byte, index) = (UInt8(ascii: "\n"), index + 1)
                        case UInt8(ascii: "r"): (byte, index) = (nil, index + 1)
                        default: break
                        }
                    }
                    guard let byte else { continue }
                    pem[count] = byte
                    count += 1
                }
                return count
            }
        }
    }

    /// Decodes base64 with padding (RFC 4648 section 4), ignoring white space.
    private static func base64Decoded(_ text: SecretBytes) -> SecretBytes? {
        text.withSpan { bytes in
            var (digits, padding, isValid) = (0, 0, true)
            let decoded = SecretBytes(capacity: bytes.count) { decoded in
                var (bits, count) = (UInt32(0), 0)
                for index in bytes.indices where !isSpace(bytes[index]) {
                    if bytes[index] == UInt8(ascii: "=") {
                        padding += 1
                        continue
                    }
                    guard let digit = base64Digit(bytes[index]), padding == 0 else {
                        isValid = false
                        break
                    }
                    bits = bits << 6 | digit
                    digits += 1
                    guard digits % 4 != 1 else { continue }
                    // The second, third and fourth digit of a group each complete a byte.
                    decoded[count] = UInt8(truncatingIfNeeded: bits >> (6 - 2 * UInt32((digits - 1) % 4)))
                    count += 1
                }
                return count
            }
            guard isValid, digits > 0, padding <= 2, (digits + padding).isMultiple(of: 4) else { return nil }
            return decoded
        }
    }

    private static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || (0x09...0x0D).contains(byte) }

    private static func base64Digit(_ byte: UInt8) -> UInt32? {
        switch byte {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): UInt32(byte - UInt8(ascii: "A"))
        case UInt8(ascii: "a")...UInt8(ascii: "z"): UInt32(byte - UInt8(ascii: "a")) + 26
        case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt32(byte - UInt8(ascii: "0")) + 52
        case UInt8(ascii: "+"): 62
        case UInt8(ascii: "/"): 63
        default: nil
        }
    }
}
