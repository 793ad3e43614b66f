import OfferCore

/// One strict reading of a query string as the members of a request, each a string.
enum QueryReader {
    /// - Parameter query: what follows the `?`, as `name=value` pairs joined by `&`, percent-encoded (RFC 3986).
    static func read(_ query: String) throws(Problem) -> JSONObject {
        var members = JSONObject()
        for pair in query.utf8.split(separator: UInt8(ascii: "&"), omittingEmptySubsequences: false) {
            guard let equals = pair.firstIndex(of: UInt8(ascii: "=")) else { throw .unreadableQuery(.notPairs) }
            let name = try decode(pair[..<equals])
            let value = try decode(pair[pair.index(after: equals)...])
            guard members.members.count < JSONReader.Limit.count else { throw .unreadableQuery(.tooMany) }
            guard members.add(name, .string(value)) else { throw .unreadableQuery(.duplicateName) }
        }
        return members
    }

    private static func decode(_ text: Substring.UTF8View.SubSequence) throws(Problem) -> [UInt8] {
        var decoded: [UInt8] = []
        var rest = text
        while let byte = rest.popFirst() {
            switch byte {
            case UInt8(ascii: "%"):
                guard let high = rest.popFirst().flatMap(hexDigit), let low = rest.popFirst().flatMap(hexDigit) else {
                    throw .unreadableQuery(.badPercentEncoding)
                }
                decoded.append(high << 4 | low)
            case UInt8(ascii: "+"):
                // A form means a space by it, a URL a plus: signing the wrong one would only show on the device.
                throw .unreadableQuery(.plus)
            default:
                decoded.append(byte)
            }
        }
        guard (try? UTF8Span(validating: decoded.span)) != nil else { throw .unreadableQuery(.notUTF8) }
        return decoded
    }

    private static func hexDigit(_ byte: UInt8) -> UInt8? {
        Character(Unicode.Scalar(byte)).hexDigitValue.map(UInt8.init)
    }
}
