import OfferCore
package import OfferCrypto

/// The function that computes a line's last member. This member links the line to the previous one.
package enum AuditSeal: Sendable {
    /// SHA-256, in the member `hash`. Anyone who can write to the file can compute it.
    case hash
    /// HMAC-SHA-256, in the member `hmac`. Only holders of the audit key can compute it.
    case hmac(HMACSHA256Key)

    /// - Returns: 32 bytes.
    func code(of previous: [UInt8], _ content: ArraySlice<UInt8>) throws(OpenSSLError) -> [UInt8] {
        switch self {
        case .hash: try SHA256.hash(previous, content)
        case .hmac(let key): try key.code(of: previous, content)
        }
    }

    var isKeyed: Bool { if case .hmac = self { true } else { false } }

    /// The text between the content of a line and its code.
    var member: [UInt8] { isKeyed ? Self.keyedMember : Self.hashMember }

    /// Both member names have the same length, so a line's code is always at the same position.
    static let hashMember = Array(#","hash":""#.utf8)
    static let keyedMember = Array(#","hmac":""#.utf8)
    /// The end of a line, including the line feed.
    static let end = Array("\"}\n".utf8)

    /// Returns the last bytes of a line with this code, including the line feed.
    static func ending(with code: [UInt8]) -> [UInt8] { Hexadecimal.utf8(of: code) + end }
}
