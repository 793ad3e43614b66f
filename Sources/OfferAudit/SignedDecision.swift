/// The decision that a signature rests on, as the audit trail records it.
package struct SignedDecision: Hashable, Sendable {
    /// The name of the rule; nil for a condition written in place.
    package let rule: String?
    /// The SHA-256 of the configuration file with the rules in force.
    package let rulesDigest: [UInt8]
    /// The SHA-256 of what was known of the customer.
    package let factsDigest: [UInt8]

    package init(rule: String?, rulesDigest: [UInt8], factsDigest: [UInt8]) {
        self.rule = rule
        self.rulesDigest = rulesDigest
        self.factsDigest = factsDigest
    }
}
