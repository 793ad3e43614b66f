import NIOConcurrencyHelpers
package import NIOCore
package import OfferCore

/// The addresses that open connections come from. Each may hold a limited number of connections, and begin a limited
/// number of TLS handshakes per second.
package final class ConnectionSources: Sendable {
    /// The limits in force, and the trusted proxies, which are exempt.
    package struct Rules: Sendable {
        let limits: Limits
        let proxies: TrustedProxies

        package init(limits: Limits, proxies: TrustedProxies) {
            self.limits = limits
            self.proxies = proxies
        }
    }

    private let rules: @Sendable () -> Rules
    private let counts = NIOLockedValueBox<[IPAddress: Int]>([:])
    private let handshakes = RateLimiter<IPAddress>()

    /// - Parameter rules: returns the rules in force; called for each connection.
    package init(rules: @escaping @Sendable () -> Rules) {
        self.rules = rules
    }

    /// Counts a connection until it closes.
    /// - Returns: false if its address has too many connections or TLS handshakes.
    package func admit(_ channel: any Channel, startsTLS: Bool) -> Bool {
        let rules = rules()
        guard let peer = channel.remoteAddress?.ipAddress.flatMap({ IPAddress($0) }),
            !peer.isLoopback, !rules.proxies.isProxy(peer)
        else { return true }
        let source = peer.subscriber
        if startsTLS, let limit = rules.limits.handshakes,
            handshakes.take(source, limit: limit, now: channel.eventLoop.now) != nil
        {
            return false
        }
        return add(source, limit: rules.limits.connections, until: channel.closeFuture)
    }

    private func add(_ source: IPAddress, limit: Int?, until closed: EventLoopFuture<Void>) -> Bool {
        let isAdded = counts.withLockedValue { counts in
            let count = counts[source, default: 0]
            guard limit.map({ count < $0 }) ?? true else { return false }
            counts[source] = count + 1
            return true
        }
        guard isAdded else { return false }
        closed.whenComplete { _ in
            self.counts.withLockedValue { counts in
                let count = counts[source, default: 1] - 1
                counts[source] = count > 0 ? count : nil
            }
        }
        return true
    }
}

/// The error thrown if an address has too many connections or TLS handshakes.
struct ConnectionRefused: Error {}
