import OfferCore

/// An address and a port to listen on.
package struct ListeningAddress: Hashable, Sendable {
    /// An IP address or a host name.
    package let host: String
    /// The port; 0 lets the system choose one.
    package let port: Int

    package init(host: String, port: Int) {
        self.host = host
        self.port = port
    }

    /// - Parameter text: an address such as `127.0.0.1:9464`, `[::1]:9464` or `localhost:9464`.
    package init?(_ text: String) {
        guard let colon = text.lastIndex(of: ":"), let port = UInt16(text[text.index(after: colon)...]) else {
            return nil
        }
        let host = text[..<colon]
        if host.hasPrefix("["), host.hasSuffix("]") {
            self.init(host: String(host.dropFirst().dropLast()), port: Int(port))
            guard IPAddress(self.host) != nil else { return nil }
        } else {
            self.init(host: String(host), port: Int(port))
            guard !host.isEmpty, !host.contains(where: { ":[]/ ".contains($0) }) else { return nil }
        }
    }

    /// Returns the host and `port` as they appear in a URL.
    package func authority(port: Int) -> String { "\(host.contains(":") ? "[\(host)]" : host):\(port)" }
}
