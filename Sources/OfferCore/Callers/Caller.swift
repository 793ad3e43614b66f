/// Somebody who may ask for signatures, known by a token.
package struct Caller: Hashable, Sendable {
    /// What a caller may ask for.
    package enum Scope: String, CaseIterable, Hashable, Sendable {
        /// To sign offers.
        case sign
        /// To have rejected signatures explained.
        case explain
        /// To read the metrics.
        case metrics
    }

    /// For the log.
    package let name: String
    /// SHA-256 of the token's bytes. The token itself is not kept.
    package let tokenDigest: [UInt8]
    package let scopes: Set<Scope>
    /// The apps to sign for; nil for all.
    package let apps: Set<BundleID>?
    /// Unix time in milliseconds from which on the token is no good; nil for never.
    package let expiry: Timestamp?

    package init(name: String, tokenDigest: [UInt8], scopes: Set<Scope>, apps: Set<BundleID>?, expiry: Timestamp?) {
        self.name = name
        self.tokenDigest = tokenDigest
        self.scopes = scopes
        self.apps = apps
        self.expiry = expiry
    }

    /// Whether a text can be a caller's name.
    package static func isName(_ text: String) -> Bool { text.isPlainName }

    /// Whether a text can be a token: at least eight characters of `b64token` (RFC 6750 section 2.1).
    package static func isToken(_ text: String) -> Bool {
        let padding = text.utf8.reversed().prefix { $0 == UInt8(ascii: "=") }.count
        return text.utf8.count >= 8 && padding < text.utf8.count
            && text.utf8.dropLast(padding).allSatisfy {
                $0.isASCIIAlphanumeric || [0x2B, 0x2D, 0x2E, 0x2F, 0x5F, 0x7E].contains($0)
            }
    }
}

/// Everybody who may ask. With nobody in it everybody may, which is for this machine alone.
package struct Callers: Sendable {
    private let callers: [Caller]
    /// The issuers whose users may ask for themselves.
    package let userIssuers: [UserIssuer]
    /// What usernames are hashed under; there is one where an issuer's users have hashed usernames.
    package let usernameSalt: Secret?

    package init(_ callers: [Caller], userIssuers: [UserIssuer] = [], usernameSalt: Secret? = nil) {
        self.callers = callers
        self.userIssuers = userIssuers
        self.usernameSalt = usernameSalt
    }

    package var isEmpty: Bool { callers.isEmpty && userIssuers.isEmpty }

    /// Whether one token stands for two callers: then it would be chance what it is good for.
    package var shareTokens: Bool { Set(callers.map(\.tokenDigest)).count < callers.count }

    /// All of them are looked through for each request.
    package static let maximumCount = 1000

    package var areTooMany: Bool { callers.count > Self.maximumCount }

    /// The caller whose token has this digest.
    ///
    /// The time that takes does not depend on how much of a digest is right: all bytes of all digests are compared.
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
