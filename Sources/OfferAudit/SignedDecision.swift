/// The decision behind a signature, as recorded in the audit trail.
package struct SignedDecision: Hashable, Sendable {
    /// The name of the rule; nil for an inline condition.
    package let rule: String?
    /// The SHA-256 of the configuration file with the rules in force.
    package let rulesDigest: [UInt8]
    /// The SHA-256 of the facts known about the customer.
    package let factsDigest: [UInt8]

    package init(rule: String?, rulesDigest: [UInt8], factsDigest: [UInt8]) {
        self.rule = rule
        self.rulesDigest = rulesDigest
        self.factsDigest = factsDigest
    }
}
