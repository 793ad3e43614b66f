/// The proxies whose `X-Forwarded-For` is trusted.
package struct TrustedProxies: Hashable, Sendable {
    /// A network or a single address, such as `10.0.0.0/8` or `2001:db8::1`.
    package struct Network: Hashable, Sendable {
        private let bits: Int
        private let prefix: IPAddress

        /// - Parameter text: an address, or an address and prefix length (CIDR, RFC 4632) whose remaining bits are
        ///   zero.
        package init?(_ text: some StringProtocol) {
            let parts = text.split(separator: "/", omittingEmptySubsequences: false)
            guard parts.count <= 2, let address = IPAddress(parts[0]) else { return nil }
            let size = address.isV4 ? 32 : 128
            var bits = 128
            if parts.count == 2 {
                guard parts[1].utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }),
                    let count = Int(parts[1]), (1...size).contains(count)
                else { return nil }
                bits = 128 - size + count
            }
            guard address.prefix(bits: bits) == address else { return nil }
            self.bits = bits
            prefix = address
        }

        func contains(_ address: IPAddress) -> Bool { address.prefix(bits: bits) == prefix }
    }

    private let networks: [Network]
    private let arePeersProxies: Bool

    /// - Parameter arePeersProxies: true if every connection comes from a proxy, trusted or not.
    package init(_ networks: [Network] = [], arePeersProxies: Bool = false) {
        self.networks = networks
        self.arePeersProxies = arePeersProxies
    }

    /// True if no proxy is trusted.
    package var isEmpty: Bool { networks.isEmpty }

    /// Finds the address that a request comes from: the peer's, or the address that a trusted proxy reports.
    ///
    /// - Parameter forwardedFor: the values of `X-Forwarded-For`, joined by commas. Each proxy appends the address it
    ///   saw, so the rightmost address that does not belong to a trusted proxy is the client's. The client may have
    ///   forged everything to its left.
    /// - Returns: nil if the address is unknown, because every peer is a proxy but none is trusted, or because this
    ///   proxy is missing from the list.
    package func client(of peer: IPAddress, forwardedFor: String?) -> IPAddress? {
        if networks.isEmpty, arePeersProxies { return nil }
        if isMissing(peer, forwardedFor: forwardedFor) { return nil }
        guard !networks.isEmpty, let forwardedFor, contains(peer) else { return peer }
        var client = peer
        for part in forwardedFor.split(separator: ",", omittingEmptySubsequences: false).reversed() {
            // A correct proxy appends only addresses. Any other text is untrusted, like everything to its left.
            guard let address = IPAddress(Self.withoutPort(part.withoutBlanks)) else { return client }
            guard contains(address) else { return address }
            // If all addresses belong to proxies, only the rightmost is certain: the peer itself appended it.
            if client == peer { client = address }
        }
        return client
    }

    /// Strips the port that some proxies add: `192.0.2.1:1234`, `[2001:db8::1]:1234`.
    private static func withoutPort(_ text: Substring) -> Substring {
        if text.first == "[" { return text.dropFirst().prefix { $0 != "]" } }
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        return parts.count == 2 ? parts[0] : text
    }

    /// Returns true if `peer` is evidently a proxy that is missing from the list: it sends `X-Forwarded-For`, and it is
    /// on this machine or every peer is a proxy. Many clients share its address, so none may be blamed for another.
    package func isMissing(_ peer: IPAddress, forwardedFor: String?) -> Bool {
        guard forwardedFor != nil, !contains(peer) else { return false }
        // If every peer is a proxy but none is listed, none counts as missing.
        return arePeersProxies ? !networks.isEmpty : peer.isLoopback
    }

    /// Returns true if connections from `peer` carry the requests of many clients. If proxies are listed, only those
    /// count, because a client may bypass the proxies even where every peer should be one.
    package func isProxy(_ peer: IPAddress) -> Bool { networks.isEmpty ? arePeersProxies : contains(peer) }

    private func contains(_ address: IPAddress) -> Bool { networks.contains { $0.contains(address) } }
}
