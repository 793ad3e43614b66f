/// A client, such as the team's own backend, that authenticates with a static token.
package struct Caller: Hashable, Sendable {
    /// A permission granted to a caller.
    package enum Scope: String, CaseIterable, Hashable, Sendable {
        /// Sign promotional offers.
        case sign
        /// Sign introductory offer eligibility.
        case introductory
        /// Sign Advanced Commerce requests, which can name any price.
        case advancedCommerce = "advanced_commerce"
        /// Get explanations of rejected signatures.
        case explain
        /// Read the metrics.
        case metrics
        /// Look up everything that is known about a customer.
        case customers
        /// Supply facts about customers, and link their identifiers.
        case facts
        /// Erase customers.
        case erase
        /// Grant one offer to one customer, approve and withdraw grants.
        case grant
        /// Make grants that also replace `perCustomer` and `cooldown`.
        case grantLimits = "grant_limits"
        /// Read the reports about offers.
        case reports

        /// The scopes of a caller without configured scopes: the least that a caller can need.
        package static let usual: Set<Scope> = [.sign]
    }

    /// The caller's name in the log.
    package let name: String
    /// SHA-256 of the token's bytes. The token itself is not stored.
    package let tokenDigest: [UInt8]
    package let scopes: Set<Scope>
    /// The apps that the caller may sign for; nil means all apps.
    package let apps: Set<BundleID>?
    /// The expiry time of the token; nil means never.
    package let expiry: Timestamp?
    /// True if the service replaces each `applicationUsername` in the caller's requests with a hash.
    package let hashesUsernames: Bool

    package init(
        name: String, tokenDigest: [UInt8], scopes: Set<Scope>, apps: Set<BundleID>?, expiry: Timestamp?,
        hashesUsernames: Bool = false
    ) {
        self.name = name
        self.tokenDigest = tokenDigest
        self.scopes = scopes
        self.apps = apps
        self.expiry = expiry
        self.hashesUsernames = hashesUsernames
    }

    /// Returns true if `text` is a valid caller name.
    package static func isName(_ text: String) -> Bool { text.isPlainName }

    /// The minimum number of characters in a token. Shorter tokens could be guessed from many addresses.
    package static let minimumTokenLength = 16

    /// The maximum number of characters in a caller's or user's token. Longer tokens are refused before they are
    /// hashed.
    package static let maximumTokenLength = 8 * 1024

    /// Returns true if `text` is a valid token: 16 to 8192 characters of `b64token` (RFC 6750 section 2.1).
    package static func isToken(_ text: String) -> Bool {
        let padding = text.utf8.reversed().prefix { $0 == UInt8(ascii: "=") }.count
        return (minimumTokenLength...maximumTokenLength).contains(text.utf8.count) && padding < text.utf8.count
            && text.utf8.dropLast(padding).allSatisfy {
                $0.isASCIIAlphanumeric || [0x2B, 0x2D, 0x2E, 0x2F, 0x5F, 0x7E].contains($0)
            }
    }
}

/// All clients that may make requests. If there are none, anyone may make requests; this is allowed only on loopback.
package struct Callers: Sendable {
    private let callers: [Caller]
    /// The identity providers whose users may make requests directly.
    package let userIssuers: [UserIssuer]
    /// The HMAC key for hashed usernames; nil if no issuer uses them.
    package let usernameSalt: Secret?

    package init(_ callers: [Caller], userIssuers: [UserIssuer] = [], usernameSalt: Secret? = nil) {
        self.callers = callers
        self.userIssuers = userIssuers
        self.usernameSalt = usernameSalt
    }

    package var isEmpty: Bool { callers.isEmpty && userIssuers.isEmpty }

    /// True if any two callers share a token. The permissions of a shared token would be ambiguous.
    package var shareTokens: Bool { Set(callers.map(\.tokenDigest)).count < callers.count }

    /// The maximum number of callers. Each request's token is compared with the tokens of all callers.
    package static let maximumCount = 1000

    package var areTooMany: Bool { callers.count > Self.maximumCount }

    /// Finds the caller whose unexpired token has this digest.
    ///
    /// The comparison covers all bytes of all digests, so its duration reveals nothing about a partial match.
    package func caller(tokenDigest: [UInt8], at now: Timestamp) -> Caller? {
        var found: Caller?
        for caller in callers where Self.areEqual(caller.tokenDigest, tokenDigest) { found = caller }
        guard let found, found.expiry.map({ now < $0 }) ?? true else { return nil }
        return found
    }

    private static func areEqual(_ one: [UInt8], _ other: [UInt8]) -> Bool {
        guard one.count == 32, other.count == 32 else { return false }
        var difference: UInt8 = 0
        for index in one.indices { difference |= one[index] ^ other[index] }
        return difference == 0
    }
}
