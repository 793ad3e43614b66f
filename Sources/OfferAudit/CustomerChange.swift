import OfferCore
package import OfferEligibility

/// A change that a caller makes to the data about a customer. It contains neither the names nor the values of facts.
package struct CustomerChange: Hashable, Sendable {
    /// The raw values name the kinds in the audit trail.
    package enum Kind: String, CaseIterable, Hashable, Sendable {
        case facts = "customer_facts"
        case link = "customer_link"
        case erasure = "customer_erased"
    }

    package let kind: Kind
    /// The App Store environment of the change; nil for all environments.
    package let environment: AppStoreEnvironment?
    /// The bytes of the account that the customer is linked to; nil if the link is removed, and for other changes. The
    /// trail stores only their HMAC.
    package let account: [UInt8]?

    package init(_ kind: Kind, in environment: AppStoreEnvironment?, account: [UInt8]? = nil) {
        self.kind = kind
        self.environment = environment
        self.account = account
    }
}
