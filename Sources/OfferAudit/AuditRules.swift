import OfferCore
package import OfferCrypto

/// Which lines of other processes a process accepts.
package struct AuditRules: Sendable {
    /// The key of lines with an HMAC; nil to accept such lines unverified.
    let key: HMACSHA256Key?
    /// Whether a line needs an HMAC to be accepted.
    let needsKey: Bool

    package init(key: HMACSHA256Key? = nil, needsKey: Bool = false) {
        self.key = key
        self.needsKey = needsKey
    }

    /// Whether the line continues the chain. A line about a break may continue an earlier line instead, the last one that
    /// its writer knew.
    func isNext(_ line: AuditLine, after chain: AuditChain) throws -> Bool {
        if line.number == chain.number + 1, try isLinked(line, to: chain.hash) { return true }
        guard chain.isPlausible(next: line.number), let last = line.lastBeforeBreak else { return false }
        return try isLinked(line, to: last)
    }

    /// Whether the line's hash or HMAC is correct if the line before it has the hash `previous`.
    func isLinked(_ line: AuditLine, to previous: [UInt8]) throws -> Bool {
        guard line.isKeyed else { return try !needsKey && line.continues(previous) }
        return try key == nil || line.continues(previous, key: key)
    }
}
