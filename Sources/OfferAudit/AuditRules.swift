import OfferCore
package import OfferCrypto

/// The rules that decide which lines of other processes to accept.
package struct AuditRules: Sendable {
    /// The key of lines with an HMAC; nil to accept such lines unverified.
    let key: HMACSHA256Key?
    /// True if only lines with an HMAC are accepted.
    let needsKey: Bool

    package init(key: HMACSHA256Key? = nil, needsKey: Bool = false) {
        self.key = key
        self.needsKey = needsKey
    }

    /// Returns true if the line continues the chain. A line that marks a break may instead continue the last line that
    /// its writer knew.
    func isNext(_ line: AuditLine, after chain: AuditChain) throws -> Bool {
        if line.number == chain.number + 1, try isLinked(line, to: chain.hash) { return true }
        guard chain.isPlausible(next: line.number), let last = line.lastBeforeBreak else { return false }
        return try isLinked(line, to: last)
    }

    /// Returns true if the line's hash or HMAC is correct for a preceding line with the hash `previous`.
    func isLinked(_ line: AuditLine, to previous: [UInt8]) throws -> Bool {
        guard line.isKeyed else { return try !needsKey && line.continues(previous) }
        return try key == nil || line.continues(previous, key: key)
    }
}
