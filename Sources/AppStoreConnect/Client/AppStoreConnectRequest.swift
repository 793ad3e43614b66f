import AppStoreAPI
import OfferCore

/// A list or a resource to read from App Store Connect. There is no other kind of request: the client can only GET.
package struct AppStoreConnectRequest: Hashable, Sendable {
    /// The path after the host, with a leading slash and percent-encoded segments.
    package let path: String
    /// The query without its question mark, encoded.
    package let query: String

    /// - Parameters:
    ///   - path: the segments after `/v1`, not yet encoded.
    ///   - query: names and values, not yet encoded.
    package init(_ path: [String], _ query: KeyValuePairs<String, String> = [:]) {
        self.path = "/v1/" + path.map(URLText.encoded).joined(separator: "/")
        self.query = query.map { "\(URLText.encoded($0.key))=\(URLText.encoded($0.value))" }.joined(separator: "&")
    }

    private init(path: String, query: String) {
        self.path = path
        self.query = query
    }

    /// Returns the request for the next page.
    ///
    /// Only the cursor comes from the link. Host, path and the rest of the query stay ours, so an answer cannot direct the
    /// token elsewhere.
    /// - Parameter link: `links.next` of the answer.
    /// - Returns: nil if the link does not lead to another page of the same list.
    package func following(_ link: String) -> AppStoreConnectRequest? {
        let parts = link.split(separator: "?", maxSplits: 1)
        guard parts.count == 2, parts[0].hasSuffix(path) else { return nil }
        let cursors = parts[1].split(separator: "&").filter { $0.hasPrefix("cursor=") }
        guard cursors.count == 1, let cursor = cursors.first?.dropFirst("cursor=".count), !cursor.isEmpty,
            cursor.utf8.count <= 2048, cursor.utf8.allSatisfy(Self.isEncoded)
        else { return nil }
        let own = query.split(separator: "&").filter { !$0.hasPrefix("cursor=") }.joined(separator: "&")
        return AppStoreConnectRequest(path: path, query: own + (own.isEmpty ? "" : "&") + "cursor=\(cursor)")
    }

    /// Returns true for the bytes of a query (RFC 3986), except `&`, which would begin another value.
    private static func isEncoded(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
            UInt8(ascii: "~"), UInt8(ascii: "%"), UInt8(ascii: "="), UInt8(ascii: "+"), UInt8(ascii: "/"),
            UInt8(ascii: ":"), UInt8(ascii: ","):
            true
        default: false
        }
    }

    /// The path and the query.
    package var target: String { query.isEmpty ? path : "\(path)?\(query)" }
}
