import OfferCore

/// The origin of web pages or of a web view (RFC 6454), such as `https://app.example.com` or `capacitor://localhost`.
package struct WebOrigin: Hashable, Sendable {
    /// The origin as browsers write it in the `Origin` header.
    package let text: String
    /// True for pages over plain HTTP from another machine.
    package let isInsecure: Bool

    /// - Parameter text: a scheme, `://`, a host and, unless it is the usual one, a port, in lower case.
    /// - Returns: nil for any other text, and so for `*` and `null`. `null` is the origin of every sandboxed page.
    package init?(_ text: String) {
        guard
            let parts = text.wholeMatch(of: /([a-z][a-z0-9+.\-]*):\/\/([a-z0-9.\-]+|\[[0-9a-f:.]+\])(?::([0-9]{1,5}))?/)
        else { return nil }
        // Browsers leave out these ports, so the text would match no request.
        guard ![("http", "80"), ("https", "443")].contains(where: { $0.0 == parts.1 && $0.1 == parts.3 ?? "" }) else {
            return nil
        }
        self.text = text
        isInsecure = parts.1 == "http" && !LoopbackAddress.isLoopback(String(parts.2.filter { !"[]".contains($0) }))
    }
}
