/// An identity provider whose users may ask for themselves, with the tokens (JWT, RFC 7519) that it gives them.
package struct UserIssuer: Hashable, Sendable {
    /// How a user's customer is made of the token's claims.
    package enum CustomerClaim: Hashable, Sendable {
        /// The claim of this name is the username, as it is.
        case applicationUsername(String)
        /// The username is HMAC-SHA-256 of the claim, under ``Callers/usernameSalt``, in hexadecimal.
        case hashedUsername(String)
        /// The claim is the account token, a UUID.
        case appAccountToken(String)
    }

    /// What `iss` of its tokens is, byte for byte.
    package let issuer: [UInt8]
    /// What `aud` of its tokens is or holds, byte for byte.
    package let audience: [UInt8]
    /// Where its public keys are.
    package let keys: KeySetPlace
    package let algorithms: Set<TokenAlgorithm>
    package let customer: CustomerClaim
    /// The apps to sign for; nil for all.
    package let apps: Set<BundleID>?

    package init(
        issuer: String, audience: String, keys: KeySetPlace, algorithms: Set<TokenAlgorithm>, customer: CustomerClaim,
        apps: Set<BundleID>?
    ) {
        self.issuer = Array(issuer.utf8)
        self.audience = Array(audience.utf8)
        self.keys = keys
        self.algorithms = algorithms
        self.customer = customer
        self.apps = apps
    }

    /// For the log.
    package var name: String { String(decoding: issuer, as: UTF8.self) }

    /// That no key in its set is for one of its algorithms, so that every user would be refused.
    package func problem(with set: UserKeySet) -> SetupProblem? {
        guard !set.keys.contains(where: { algorithms.contains($0.algorithm) }) else { return nil }
        return SetupProblem(
            "no key in \(keys) is for an algorithm that tokens of \(name) may have, so every user is refused",
            hint: "look whether its algorithms are right; without them, they are ES256 and RS256")
    }
}

/// Where a set of public keys (JWKS, RFC 7517 section 5) is to be had.
package enum KeySetPlace: Hashable, Sendable {
    case file(path: String)
    /// `https`, or `http` on this machine.
    case url(String)
}

extension KeySetPlace: CustomStringConvertible {
    package var description: String {
        switch self {
        case .file(let path): path
        // A query may be a key to get in with.
        case .url(let url): String(url.prefix { $0 != "?" })
        }
    }
}
