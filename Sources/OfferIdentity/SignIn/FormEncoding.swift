import OfferCore

/// `application/x-www-form-urlencoded` (WHATWG, "URL", section 5), for queries and bodies of OAuth.
enum FormEncoding {
    typealias Field = (name: String, value: String)

    static func text(of fields: [Field]) -> String {
        fields.map { encoded($0.name) + "=" + encoded($0.value) }.joined(separator: "&")
    }

    /// Encodes everything but the unreserved characters of RFC 3986.
    static func encoded(_ text: String) -> String {
        var encoded: [UInt8] = []
        for byte in text.utf8 {
            if byte.isASCIIAlphanumeric || unreserved.contains(byte) {
                encoded.append(byte)
            } else {
                encoded.append(UInt8(ascii: "%"))
                Hexadecimal.append([byte], to: &encoded)
            }
        }
        return String(decoding: encoded, as: UTF8.self)
    }

    private static let unreserved = Array("-._~".utf8)

    /// Decodes the fields of a query.
    /// - Returns: nil if a percent sign has no two digits after it, or the text is not UTF-8.
    static func fields(of query: String) -> [Field]? {
        var fields: [Field] = []
        for pair in query.utf8.split(separator: UInt8(ascii: "&")) {
            let parts = pair.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
            guard let name = decoded(parts[0]), let value = parts.count > 1 ? decoded(parts[1]) : "" else { return nil }
            fields.append((name, value))
        }
        return fields
    }

    private static func decoded(_ text: Substring.UTF8View) -> String? {
        var bytes: [UInt8] = []
        var rest = text
        while let byte = rest.popFirst() {
            switch byte {
            case UInt8(ascii: "+"): bytes.append(UInt8(ascii: " "))
            case UInt8(ascii: "%"):
                let digits = String(decoding: rest.prefix(2), as: UTF8.self)
                guard let byte = Hexadecimal.bytes(of: digits, count: 1) else { return nil }
                bytes += byte
                rest = rest.dropFirst(2)
            default: bytes.append(byte)
            }
        }
        return String(validating: bytes, as: UTF8.self)
    }
}
