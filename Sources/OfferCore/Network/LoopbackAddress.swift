/// A test for addresses that only this machine can reach.
package enum LoopbackAddress {
    /// Returns true if `host` is `localhost` or a loopback IP address. A host name that merely begins with `127.` is
    /// neither.
    package static func isLoopback(_ host: String) -> Bool {
        host == "localhost" || IPAddress(host)?.isLoopback == true
    }

    /// Returns true if `host` rules out DNS rebinding in a request to a loopback address. `localhost` and names below
    /// it always mean this machine (RFC 6761 section 6.3), and an IP address means itself. The owner of any other name
    /// can point it at this machine. A web page under that name can then read the responses.
    /// - Parameter host: the host of an authority, without the port. An IPv6 address must be in brackets.
    package static func isTrustworthy(host: String) -> Bool {
        // These are by far the most frequent hosts. Recognising any other host costs more.
        if host == "localhost" || host == "127.0.0.1" { return true }
        let host = host.lowercased()
        if host == "localhost" || host.hasSuffix(".localhost") { return true }
        let isInBrackets = host.hasPrefix("[") && host.hasSuffix("]")
        let address = isInBrackets ? host.dropFirst().dropLast() : host[...]
        return IPAddress(address) != nil && address.contains(":") == isInBrackets
    }
}
