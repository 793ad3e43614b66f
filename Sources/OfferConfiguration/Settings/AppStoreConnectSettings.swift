package import AppStoreConnect
package import OfferCore
package import OfferCrypto
package import OutgoingHTTP

/// The settings for reading from App Store Connect.
package struct AppStoreConnectSettings: Sendable {
    package let key: AppStoreConnectKey
    /// The base URL; nil for Apple's.
    package let host: String?
    /// The root certificates to trust for the host, in addition to the system's.
    package let roots: [X509Certificate]

    package init(key: AppStoreConnectKey, host: String? = nil, roots: [X509Certificate] = []) {
        self.key = key
        self.host = host
        self.roots = roots
    }

    /// Creates a transport with one connection. Close it after the last request.
    /// - Throws: a problem for the operator, if a root certificate cannot be used.
    package func makeTransport() throws(Diagnostic) -> OutgoingClient {
        do { return try OutgoingClient(roots: roots, connections: 1, connectLimit: .seconds(30)) } catch {
            throw Diagnostic("a root certificate for App Store Connect cannot be used", hint: "check its file")
        }
    }
}
