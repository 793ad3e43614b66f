import FoundationEssentials
import OfferCore
package import OfferHTTP
package import OfferIdentity

/// The settings of the console.
package struct ConsoleSettings: Sendable {
    package let address: ListeningAddress
    package let origin: ConsoleOrigin
    /// nil if people sign in only with links.
    package let provider: Provider?

    /// The identity provider at which people sign in, and what its claims mean.
    package struct Provider: Sendable {
        package let settings: SignInSettings
        package let roles: RoleMapping
    }

    package init(address: ListeningAddress, origin: ConsoleOrigin, provider: Provider? = nil) {
        self.address = address
        self.origin = origin
        self.provider = provider
    }

    /// The names of the roles.
    package static let roles = ["support", "marketing", "operator", "auditor"]

    /// The page of the console that receives the answer of the identity provider.
    package static let returnPath = "/sign-in/return"
}

/// The scheme, host and port under which browsers reach the console (RFC 6454). Requests never change it.
package struct ConsoleOrigin: Hashable, Sendable {
    /// The origin as browsers write it, such as `https://offers.example.com`.
    package let text: String
    /// The host without the port, as in a `Host` header.
    package let host: String
    /// True if browsers use TLS.
    package let isSecure: Bool

    /// - Parameter text: an `https` URL without a path, or an `http` URL of this machine.
    package init?(_ text: String) {
        guard ServerURL.isGood(text), let url = URLComponents(string: text), let host = url.host?.lowercased(),
            let scheme = url.scheme, url.path.isEmpty || url.path == "/", url.query == nil
        else { return nil }
        let usualPort = scheme == "https" ? 443 : 80
        isSecure = scheme == "https"
        self.host = host
        let port = url.port.flatMap { $0 == usualPort ? nil : $0 }
        self.text = "\(scheme)://\(host)" + (port.map { ":\($0)" } ?? "")
    }

    /// The origin of a loopback address that serves browsers on this machine.
    /// - Parameter port: the port that the service listens on.
    package init(of address: ListeningAddress, port: Int, isSecure: Bool) {
        let authority = address.authority(port: port)
        host = String(authority.dropLast(":\(port)".count))
        text = "\(isSecure ? "https" : "http")://\(authority)"
        self.isSecure = isSecure
    }
}
