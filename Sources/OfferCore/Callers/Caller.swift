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
}

/// Everybody who may ask. With nobody in it everybody may, which is for this machine alone.
package struct Callers: Hashable, Sendable {
    private let callers: [Caller]

    package init(_ callers: [Caller]) {
        self.callers = callers
    }

    package var isEmpty: Bool { callers.isEmpty }

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
