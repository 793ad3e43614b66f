/// A strict reader of the header `Cookie` (RFC 6265, section 4.2).
package enum CookieReader {
    /// The maximum size of all `Cookie` headers of a request, in bytes.
    package static let maximumBytes = 8 * 1024

    /// Returns the value of the one cookie with a name.
    ///
    /// A cookie that occurs twice counts as none: another host of the domain may have set one of the two, and nothing
    /// tells which. Other cookies are ignored, even if they are malformed.
    /// - Parameters:
    ///   - name: compared byte by byte.
    ///   - headers: the values of the headers, in order. HTTP/2 may split a header at its semicolons.
    package static func value(of name: String, in headers: [String]) -> String? {
        var found: String?
        guard headers.reduce(0, { $0 + $1.utf8.count }) <= maximumBytes else { return nil }
        for header in headers {
            for pair in header.utf8.split(separator: UInt8(ascii: ";"), omittingEmptySubsequences: true) {
                let pair = trimmed(pair)
                let equals = pair.firstIndex(of: UInt8(ascii: "=")) ?? pair.endIndex
                guard trimmed(pair[..<equals]).elementsEqual(name.utf8) else { continue }
                guard found == nil, equals < pair.endIndex else { return nil }
                let value = pair[pair.index(after: equals)...]
                guard !value.isEmpty, value.allSatisfy(isCookieOctet) else { return nil }
                found = String(Substring(value))
            }
        }
        return found
    }

    private static func trimmed(_ text: Substring.UTF8View) -> Substring.UTF8View {
        let text = text.drop(while: isBlank)
        guard let last = text.lastIndex(where: { !isBlank($0) }) else { return text }
        return text[...last]
    }

    private static func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }

    /// Returns true for visible ASCII except `"`, `,`, `;` and `\`.
    private static func isCookieOctet(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: ","), UInt8(ascii: ";"), UInt8(ascii: "\\"): false
        default: 0x21...0x7E ~= byte
        }
    }
}
