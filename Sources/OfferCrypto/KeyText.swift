import FoundationEssentials

/// The text of a private key, in any of the forms that environment variables and secret stores deliver.
enum KeyText {
    /// - Parameter form: the form of the text, for messages.
    case pem([UInt8], form: String)
    case der([UInt8], form: String)

    /// - Parameter text: PEM; PEM with the two characters `\n` for each line ending; or base64 of PEM or DER.
    /// - Returns: nil for any other text.
    init?(_ text: [UInt8]) {
        if Self.isPEM(text) {
            let pem = Self.withLineEnds(text)
            self = .pem(pem, form: pem == text ? "PEM" : "PEM with \\n written out")
        } else if let decoded = Self.base64Decoded(text) {
            self = Self.isPEM(decoded) ? .pem(decoded, form: "base64 of PEM") : .der(decoded, form: "base64 of DER")
        } else {
            return nil
        }
    }

    private static func isPEM(_ bytes: [UInt8]) -> Bool {
        !bytes.ranges(of: Array("-----BEGIN ".utf8)).isEmpty
    }

    /// Replaces each `\n` with a line feed and removes each `\r`. PEM contains no backslashes, so both must stand for
    /// line endings.
    private static func withLineEnds(_ text: [UInt8]) -> [UInt8] {
        text.replacing(Array("\\r".utf8), with: []).replacing(Array("\\n".utf8), with: [UInt8(ascii: "\n")])
    }

    private static func base64Decoded(_ text: [UInt8]) -> [UInt8]? {
        let digits = text.filter { !($0 == 0x20 || (0x09...0x0D).contains($0)) }
        guard !digits.isEmpty, let decoded = Data(base64Encoded: Data(digits)) else { return nil }
        return [UInt8](decoded)
    }
}
