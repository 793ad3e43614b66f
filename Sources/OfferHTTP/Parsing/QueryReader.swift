package import OfferCore

/// A strict parser that turns a query string into the members of a request. Their values are all strings.
package enum QueryReader {
    package enum Fault: String, Error, Hashable {
        case notPairs = "The query must consist of name=value pairs."
        case tooMany = "The query has too many pairs."
        case duplicateName = "The query has the same name twice."
        case badPercentEncoding = "The query has a % that is not followed by two hexadecimal digits."
        case plus = "The query has a bare +, which could mean a plus or a space: send %2B or %20."
        case notUTF8 = "The query does not decode to valid UTF-8."
    }

    /// - Parameter query: the text after `?`: percent-encoded `name=value` pairs joined by `&` (RFC 3986).
    package static func read(_ query: String) throws(Fault) -> JSONObject {
        var members = JSONObject()
        for pair in query.utf8.split(separator: UInt8(ascii: "&"), omittingEmptySubsequences: false) {
            guard let equals = pair.firstIndex(of: UInt8(ascii: "=")) else { throw .notPairs }
            let name = try decode(pair[..<equals])
            let value = try decode(pair[pair.index(after: equals)...])
            guard members.members.count < JSONReader.Limit.count else { throw .tooMany }
            guard members.add(name, .string(value)) else { throw .duplicateName }
        }
        return members
    }

    private static func decode(_ text: Substring.UTF8View.SubSequence) throws(Fault) -> [UInt8] {
        var decoded: [UInt8] = []
        var rest = text
        while let byte = rest.popFirst() {
            switch byte {
            case UInt8(ascii: "%"):
                guard let high = rest.popFirst().flatMap(hexDigit), let low = rest.popFirst().flatMap(hexDigit) else {
                    throw .badPercentEncoding
                }
                decoded.append(high << 4 | low)
            case UInt8(ascii: "+"):
                // `+` is a space in a form but a plus in a URL. A signature over the wrong character would fail only on
                // the customer's device.
                throw .plus
            default:
                decoded.append(byte)
            }
        }
        guard (try? UTF8Span(validating: decoded.span)) != nil else { throw .notUTF8 }
        return decoded
    }

    private static func hexDigit(_ byte: UInt8) -> UInt8? {
        Character(Unicode.Scalar(byte)).hexDigitValue.map(UInt8.init)
    }
}
