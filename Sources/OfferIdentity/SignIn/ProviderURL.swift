import OfferCore

/// An absolute `https` URL without a user name and a fragment, in printable ASCII.
///
/// The text stays as it was written: issuers are compared byte for byte (OpenID Connect Discovery 1.0 section 4.3).
package struct ProviderURL: Hashable, Sendable {
    package let text: String

    /// - Parameter allowsLoopback: true if `http` is allowed on this machine.
    package init?(_ text: String, allowsLoopback: Bool = false) {
        let isSecure = text.hasPrefix("https://")
        guard isSecure || allowsLoopback && text.hasPrefix("http://"), text.utf8.count <= 2048,
            text.utf8.allSatisfy({ (0x21...0x7E).contains($0) && !Self.forbidden.contains($0) })
        else { return nil }
        let authority = text.dropFirst(isSecure ? 8 : 7).prefix { $0 != "/" && $0 != "?" }
        guard let host = Self.host(of: authority), isSecure || LoopbackAddress.isLoopback(host) else { return nil }
        self.text = text
    }

    init?(_ value: JSONValue?) {
        guard case .string(let utf8) = value else { return nil }
        self.init(String(decoding: utf8, as: UTF8.self))
    }

    /// Parsers disagree about these characters.
    private static let forbidden = Set(##""#<>\^`{|}"##.utf8)

    /// Returns the host without brackets; nil if the authority is anything but a host and an optional port.
    private static func host(of authority: Substring) -> String? {
        var host = authority
        if let colon = authority.lastIndex(of: ":"), authority.last != "]" {
            let digits = authority[authority.index(after: colon)...]
            guard let port = UInt16(digits), port > 0, digits.first != "+" else { return nil }
            host = authority[..<colon]
        }
        if host.first == "[" {
            let address = host.dropFirst().dropLast()
            return host.last == "]" && address.contains(":") && IPAddress(address) != nil ? String(address) : nil
        }
        let isName = host.utf8.allSatisfy {
            $0.isASCIIAlphanumeric || $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: ".")
        }
        return isName && !host.isEmpty ? String(host) : nil
    }
}
