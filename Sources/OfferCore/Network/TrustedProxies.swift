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

    /// - Parameter arePeersProxies: whether every connection comes from a proxy, trusted or not.
    package init(_ networks: [Network] = [], arePeersProxies: Bool = false) {
        self.networks = networks
        self.arePeersProxies = arePeersProxies
    }

    /// Whether no proxy is trusted.
    package var isEmpty: Bool { networks.isEmpty }

    /// Finds the address a request comes from: the peer's, or the one reported by a trusted proxy.
    ///
    /// - Parameter forwardedFor: the values of `X-Forwarded-For`, joined by commas. Each proxy appends the address it
    ///   saw, so the rightmost address that does not belong to a trusted proxy is the client's. The client may have
    ///   forged everything to its left.
    /// - Returns: nil if the address is unknown: every peer is a proxy, but none is trusted, or this one is missing from
    ///   the list.
    package func client(of peer: IPAddress, forwardedFor: String?) -> IPAddress? {
        if networks.isEmpty, arePeersProxies { return nil }
        if isMissing(peer, forwardedFor: forwardedFor) { return nil }
        guard !networks.isEmpty, let forwardedFor, contains(peer) else { return peer }
        var client = peer
        for part in forwardedFor.split(separator: ",", omittingEmptySubsequences: false).reversed() {
            // A correct proxy appends only addresses. Anything else is untrusted, and so is everything to its left.
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

    /// Whether `peer` is evidently a proxy, but missing from the list: it sends `X-Forwarded-For` from this machine, or
    /// from where only proxies connect. Its address stands for many clients, so no client may be blamed for another.
    package func isMissing(_ peer: IPAddress, forwardedFor: String?) -> Bool {
        guard forwardedFor != nil, !contains(peer) else { return false }
        // Behind proxies that are not listed at all, none is missing.
        return arePeersProxies ? !networks.isEmpty : peer.isLoopback
    }

    /// Whether connections from `peer` carry the requests of many clients. If there is a list, only its members count:
    /// otherwise, the list would say nothing where every peer should be a proxy but someone gets past it.
    package func isProxy(_ peer: IPAddress) -> Bool { networks.isEmpty ? arePeersProxies : contains(peer) }

    private func contains(_ address: IPAddress) -> Bool { networks.contains { $0.contains(address) } }
}
