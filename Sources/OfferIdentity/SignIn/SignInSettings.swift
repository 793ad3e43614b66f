package import OfferCore
package import OfferCrypto
package import OutgoingHTTP

/// The registration of the console at an identity provider.
package struct SignInSettings: Sendable {
    /// The provider's name, exactly as in its discovery document and tokens.
    package let issuer: ProviderURL
    package let clientID: String
    /// The secret of a confidential client; nil for a public client, which only PKCE protects.
    package let clientSecret: Secret?
    /// The page of the console that receives the authorization code, as registered at the provider.
    package let redirectURL: ProviderURL
    package let scopes: [String]
    /// The claim of the ID token that ``RoleMapping`` maps to roles.
    package let roleClaim: String
    /// The root certificates to trust for the provider, in addition to the system's.
    package let roots: [X509Certificate]

    /// - Parameters:
    ///   - redirectURL: `https`, or `http` on this machine.
    ///   - scopes: `openid` is added if it is missing.
    /// - Throws: a problem for the operator, if a value cannot be used.
    package init(
        issuer: String, clientID: String, clientSecret: Secret? = nil, redirectURL: String,
        scopes: [String] = ["openid", "profile", "email"], roleClaim: String = "groups", roots: [X509Certificate] = []
    ) throws(Diagnostic) {
        guard let url = ProviderURL(issuer), !issuer.contains("?") else {
            throw Diagnostic(
                "the issuer of the console's identity provider is not an https URL without a query",
                hint: "write it like https://id.example.com, exactly as in the provider's discovery document")
        }
        guard let back = ProviderURL(redirectURL, allowsLoopback: true) else {
            throw Diagnostic(
                "the redirect URL of the console is not an https URL, or an http URL on this machine",
                hint: "check console.url")
        }
        guard Self.isPrintable(clientID, 1...255), clientSecret.map({ Self.isPrintable($0.reveal, 1...1024) }) ?? true
        else {
            throw Diagnostic(
                "the client ID or client secret of the console is empty, too long, or not printable ASCII",
                hint: "copy both from the identity provider")
        }
        // RFC 6749 section 3.3
        guard
            scopes.allSatisfy({
                Self.isPrintable($0, 1...255) && !$0.utf8.contains { [0x20, 0x22, 0x5C].contains($0) }
            })
        else {
            throw Diagnostic(
                "a scope of the console's identity provider is empty or has a forbidden character",
                hint: "list scopes one by one, such as openid, profile and email")
        }
        self.issuer = url
        self.clientID = clientID
        self.clientSecret = clientSecret
        self.redirectURL = back
        self.scopes = scopes.contains("openid") ? scopes : ["openid"] + scopes
        self.roleClaim = roleClaim
        self.roots = roots
    }

    /// Creates a client for the provider. Close it after the last request.
    /// - Throws: a problem for the operator, if a root certificate cannot be used.
    package func makeClient() throws(Diagnostic) -> OutgoingClient {
        do { return try OutgoingClient(roots: roots) } catch {
            throw Diagnostic(
                "a root certificate for the console's identity provider cannot be used", hint: "check its file")
        }
    }

    private static func isPrintable(_ text: String, _ sizes: ClosedRange<Int>) -> Bool {
        sizes.contains(text.utf8.count) && text.utf8.allSatisfy { (0x20...0x7E).contains($0) }
    }
}
