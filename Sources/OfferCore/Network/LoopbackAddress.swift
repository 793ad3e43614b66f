/// A test for addresses that only this machine can reach.
package enum LoopbackAddress {
    /// Whether `host` is `localhost` or a loopback IP address. A host name that merely begins with `127.` is neither.
    package static func isLoopback(_ host: String) -> Bool {
        host == "localhost" || IPAddress(host)?.isLoopback == true
    }

    /// Whether a request for `host` can have reached a loopback address without a trick: `localhost` and names below it
    /// always mean this machine (RFC 6761 section 6.3), and an IP address means itself. The owner of any
    /// other name can point it here, and a web page under that name can then read the responses (DNS rebinding).
    /// - Parameter host: as in an authority, without the port; an IPv6 address is in brackets.
    package static func isTrustworthy(host: String) -> Bool {
        // By far the most frequent ones; anything else costs more to recognise.
        if host == "localhost" || host == "127.0.0.1" { return true }
        let host = host.lowercased()
        if host == "localhost" || host.hasSuffix(".localhost") { return true }
        let isInBrackets = host.hasPrefix("[") && host.hasSuffix("]")
        let address = isInBrackets ? host.dropFirst().dropLast() : host[...]
        return IPAddress(address) != nil && address.contains(":") == isInBrackets
    }
}
