/// The address of a page or an action of the console: a path, and the items of its query.
///
/// The path is a literal, so an address never leads to another site.
package struct PageAddress: Sendable {
    package struct Item: Sendable {
        package let name: String
        package let value: String
    }

    package let path: String
    package private(set) var query: [Item]

    package init(_ path: StaticString, _ query: KeyValuePairs<String, String> = [:]) {
        self.path = path.description
        self.query = query.map { Item(name: $0, value: $1) }
    }

    /// The address with one more item.
    package func with(_ name: String, _ value: String) -> PageAddress {
        var address = self
        address.query.append(Item(name: name, value: value))
        return address
    }

    /// The address without some items.
    package func without(_ names: Set<String>) -> PageAddress {
        var address = self
        address.query.removeAll { names.contains($0.name) }
        return address
    }

    /// The address of another page with the same query.
    package func moved(to path: StaticString) -> PageAddress {
        var address = PageAddress(path)
        address.query = query
        return address
    }

    /// The address as text, percent-encoded (RFC 3986).
    package var text: String {
        var text = path
        for (place, item) in query.enumerated() {
            text += place == 0 ? "?" : "&"
            text += Self.encoded(item.name) + "=" + Self.encoded(item.value)
        }
        return text
    }

    /// The items as hidden fields. A form whose method is GET replaces the query of its action.
    var hiddenFields: [HTML] {
        query.html { #"<input type="hidden" name="\#($0.name)" value="\#($0.value)">"# }
    }

    private static func encoded(_ text: String) -> String {
        var encoded: [UInt8] = []
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
                UInt8(ascii: "~"):
                encoded.append(byte)
            default:
                encoded += [UInt8(ascii: "%"), digit(byte >> 4), digit(byte & 0xF)]
            }
        }
        return String(decoding: encoded, as: UTF8.self)
    }

    private static func digit(_ value: UInt8) -> UInt8 {
        value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "A") + value - 10
    }
}

extension HTML.StringInterpolation {
    package mutating func appendInterpolation(_ address: PageAddress) { appendInterpolation(address.text) }
}
