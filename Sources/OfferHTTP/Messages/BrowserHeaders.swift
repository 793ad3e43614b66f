/// The headers of a request that matter for cookies, for forms of other sites, and for what a browser has stored.
package final class BrowserHeaders: Sendable {
    /// The values of the `Cookie` headers, in order.
    package let cookies: [String]
    /// The value of the `Sec-Fetch-Site` header (W3C, "Fetch Metadata Request Headers"); nil if there is none, and empty if
    /// there are several.
    package let fetchSite: String?
    /// The value of the `Origin` header (RFC 6454); nil if there is none, and empty if there are several.
    package let origin: String?
    /// The value of the `If-None-Match` header (RFC 9110 section 13.1.2); nil if there is none, and empty if there are several.
    package let ifNoneMatch: String?

    package init(
        cookies: [String] = [], fetchSite: String? = nil, origin: String? = nil, ifNoneMatch: String? = nil
    ) {
        self.cookies = cookies
        self.fetchSite = fetchSite
        self.origin = origin
        self.ifNoneMatch = ifNoneMatch
    }

    /// - Returns: nil if a request has none of these headers.
    convenience init?(ifAny cookies: [String], fetchSite: String?, origin: String?, ifNoneMatch: String?) {
        guard !cookies.isEmpty || fetchSite != nil || origin != nil || ifNoneMatch != nil else { return nil }
        self.init(cookies: cookies, fetchSite: fetchSite, origin: origin, ifNoneMatch: ifNoneMatch)
    }

    /// The approximate size in memory, in bytes.
    var size: Int {
        64 + cookies.reduce(0) { $0 + 16 + $1.utf8.count } + (fetchSite?.utf8.count ?? 0) + (origin?.utf8.count ?? 0)
            + (ifNoneMatch?.utf8.count ?? 0)
    }
}
