/// The headers of a request that matter for cookies and for forms of other sites.
package final class BrowserHeaders: Sendable {
    /// The values of the `Cookie` headers, in order.
    package let cookies: [String]
    /// The value of the `Sec-Fetch-Site` header (W3C, "Fetch Metadata Request Headers"); nil if there is none, and empty if
    /// there are several.
    package let fetchSite: String?
    /// The value of the `Origin` header (RFC 6454); nil if there is none, and empty if there are several.
    package let origin: String?

    package init(cookies: [String] = [], fetchSite: String? = nil, origin: String? = nil) {
        self.cookies = cookies
        self.fetchSite = fetchSite
        self.origin = origin
    }

    /// - Returns: nil if a request has none of these headers.
    convenience init?(ifAny cookies: [String], fetchSite: String?, origin: String?) {
        guard !cookies.isEmpty || fetchSite != nil || origin != nil else { return nil }
        self.init(cookies: cookies, fetchSite: fetchSite, origin: origin)
    }

    /// The approximate size in memory, in bytes.
    var size: Int {
        64 + cookies.reduce(0) { $0 + 16 + $1.utf8.count } + (fetchSite?.utf8.count ?? 0) + (origin?.utf8.count ?? 0)
    }
}
