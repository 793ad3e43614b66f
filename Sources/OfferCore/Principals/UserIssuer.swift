/// An identity provider whose users make requests directly, authenticated by the provider's tokens (JWT, RFC 7519).
package struct UserIssuer: Hashable, Sendable {
    /// The rule that derives a customer from the claims of a user's token.
    package enum CustomerClaim: Hashable, Sendable {
        /// The username is the claim with this name, unchanged.
        case applicationUsername(String)
        /// The username is HMAC-SHA-256 of the claim with this name, keyed with ``Callers/usernameSalt``, in
        /// hexadecimal.
        case hashedUsername(String)
        /// The claim with this name is the account token, a UUID.
        case appAccountToken(String)
    }

    /// The `iss` of the provider's tokens, compared byte for byte.
    package let issuer: [UInt8]
    /// The required audience. `aud` must equal or contain it, compared byte for byte.
    package let audience: [UInt8]
    /// The location of the provider's public keys.
    package let keys: KeySetLocation
    package let algorithms: Set<TokenAlgorithm>
    package let customer: CustomerClaim
    /// The apps that the provider's users may sign for; nil means all apps.
    package let apps: Set<BundleID>?

    package init(
        issuer: String, audience: String, keys: KeySetLocation, algorithms: Set<TokenAlgorithm>,
        customer: CustomerClaim, apps: Set<BundleID>?
    ) {
        self.issuer = Array(issuer.utf8)
        self.audience = Array(audience.utf8)
        self.keys = keys
        self.algorithms = algorithms
        self.customer = customer
        self.apps = apps
    }

    /// The issuer's name in the log.
    package var name: String { String(decoding: issuer, as: UTF8.self) }

    /// Reports a key set that has no key for any allowed algorithm. Every user's token would be rejected.
    package func problem(with set: UserKeySet) -> Diagnostic? {
        guard !set.keys.contains(where: { algorithms.contains($0.algorithm) }) else { return nil }
        return Diagnostic(
            "no key in \(keys) supports an algorithm allowed for \(name), so every user is refused",
            hint: "check the issuer's algorithms; the default is ES256 and RS256")
    }
}

/// The location of a set of public keys (JWKS, RFC 7517 section 5).
package enum KeySetLocation: Hashable, Sendable {
    case file(path: String)
    /// An `https` URL, or an `http` URL on this machine.
    case url(String)
}

extension KeySetLocation: CustomStringConvertible {
    package var description: String {
        switch self {
        case .file(let path): path
        // The query may contain a credential.
        case .url(let url): String(url.prefix { $0 != "?" })
        }
    }
}
