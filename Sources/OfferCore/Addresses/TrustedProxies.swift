/// The proxies whose word is taken for where a request comes from.
package struct TrustedProxies: Hashable, Sendable {
    /// Addresses that begin with the same bits, such as `10.0.0.0/8` or `2001:db8::1`.
    package struct Network: Hashable, Sendable {
        private let bits: Int
        private let prefix: IPAddress

        /// - Parameter text: an address, or an address and the count of bits that count (CIDR, RFC 4632), none of the
        ///   others being set.
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

    /// - Parameter arePeersProxies: whether nobody gets to the service but through a proxy.
    package init(_ networks: [Network] = [], arePeersProxies: Bool = false) {
        self.networks = networks
        self.arePeersProxies = arePeersProxies
    }

    /// Where a request comes from: the peer, or what a trusted peer says.
    ///
    /// - Parameter forwardedFor: the values of `X-Forwarded-For`, joined by commas. Each proxy adds the address that it
    ///   saw at the right end, so the first from there that is no trusted proxy's is the client's; everything further left
    ///   the client may have made up.
    /// - Returns: nil if that cannot be known: every peer is a proxy, and none is believed.
    package func client(of peer: IPAddress, forwardedFor: String?) -> IPAddress? {
        if networks.isEmpty, arePeersProxies { return nil }
        guard !networks.isEmpty, let forwardedFor, contains(peer) else { return peer }
        var client = peer
        for part in forwardedFor.split(separator: ",", omittingEmptySubsequences: false).reversed() {
            // What is no address was not written by a proxy that does as it should.
            guard let address = IPAddress(Self.withoutPort(part.withoutBlanks)) else { return client }
            guard contains(address) else { return address }
            // Of a request from among the proxies themselves, what is furthest right is what a proxy saw.
            if client == peer { client = address }
        }
        return client
    }

    /// Some proxies write `192.0.2.1:1234` and `[2001:db8::1]:1234`.
    private static func withoutPort(_ text: Substring) -> Substring {
        if text.first == "[" { return text.dropFirst().prefix { $0 != "]" } }
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        return parts.count == 2 ? parts[0] : text
    }

    private func contains(_ address: IPAddress) -> Bool { networks.contains { $0.contains(address) } }
}
