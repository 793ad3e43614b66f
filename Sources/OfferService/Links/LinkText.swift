import OfferCore
import OfferEligibility

/// The last part of a link's address: the name of a campaign, or `~` and a token.
///
/// ```
/// https://go.example.com/o/spring        https://go.example.com/o/~AZ3…
/// ```
package enum LinkText: Hashable, Sendable {
    case campaign(String)
    case personal(token: String)

    /// The path of every link, up to the part that differs.
    package static let path = "/o/"

    /// The length in bytes that a request may give a link.
    package static let sizes = 1...2048

    /// Reads a link as the app got it: the whole address or its last part. Mail programs and mailers add a query or a
    /// fragment, and mailers may replace the host, so none of them counts.
    /// - Returns: nil if this is no link.
    package init?(_ text: String) {
        var part = text[...]
        if let scheme = text.firstRange(of: "://"), ["http", "https"].contains(text[..<scheme.lowerBound].lowercased())
        {
            let rest = text[scheme.upperBound...]
            guard let host = rest.firstIndex(where: { "/?#".contains($0) }), rest[host...].hasPrefix(Self.path) else {
                return nil
            }
            part = rest[rest.index(host, offsetBy: Self.path.count)...]
        }
        self.init(lastPart: part.prefix { $0 != "?" && $0 != "#" })
    }

    /// - Parameter part: the part of a path behind ``path``. Some programs encode the tilde, or add a slash.
    package init?(lastPart part: some StringProtocol) {
        var part = String(part)
        if part.hasSuffix("/") { part.removeLast() }
        if part.lowercased().hasPrefix("%7e") { part = "~" + part.dropFirst(3) }
        if part.hasPrefix("~") {
            let token = String(part.dropFirst())
            guard token.utf8.allSatisfy({ $0.isASCIIAlphanumeric || "-_".utf8.contains($0) }) else { return nil }
            self = .personal(token: token)
        } else if Campaign.isName(part) {
            self = .campaign(part)
        } else {
            return nil
        }
    }

    /// The part of a path behind ``path``.
    package var lastPart: String {
        switch self {
        case .campaign(let name): name
        case .personal(let token): "~" + token
        }
    }
}
