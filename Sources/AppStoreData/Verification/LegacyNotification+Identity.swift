import OfferCore
import OfferCrypto

extension LegacyNotification {
    /// Returns an identity to replace the `notificationUUID`, which version 1 lacks: `v1-` and half of a SHA-256 digest
    /// in hexadecimal.
    ///
    /// It is the same for each delivery of the same content, in any order of members and with any white space. The
    /// password is excluded, so it cannot be guessed from the identity, and a changed password does not create a new
    /// notification.
    func identity() throws -> FieldText {
        var text: [UInt8] = []
        JSONValue.object(content).appendCanonical(to: &text)
        let digest = try SHA256.hash(text).prefix(16)
        return try FieldText(
            utf8: Array("v1-".utf8) + Hexadecimal.utf8(of: Array(digest)), field: "notificationUUID", sizes: 1...64)
    }
}

extension JSONValue {
    /// Appends the value with its kind and its count, so that different values have different texts.
    fileprivate func appendCanonical(to text: inout [UInt8]) {
        switch self {
        case .null: text += "z".utf8
        case .bool(let bool): text += (bool ? "t" : "f").utf8
        case .number(let digits): Self.append("n", digits, to: &text)
        case .string(let utf8): Self.append("s", utf8, to: &text)
        case .array(let elements):
            text += "a\(elements.count):".utf8
            for element in elements { element.appendCanonical(to: &text) }
        case .object(let object):
            text += "o\(object.members.count):".utf8
            for member in object.members.sorted(by: { $0.name.lexicographicallyPrecedes($1.name) }) {
                Self.append("m", member.name, to: &text)
                member.value.appendCanonical(to: &text)
            }
        }
    }

    private static func append(_ kind: String, _ bytes: [UInt8], to text: inout [UInt8]) {
        text += "\(kind)\(bytes.count):".utf8
        text += bytes
    }
}
