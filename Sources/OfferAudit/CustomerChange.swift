package import OfferCore
package import OfferEligibility

/// A change that a caller makes to the data about a customer, or a list of customers that a caller reads. It contains
/// neither the names nor the values of facts.
package struct CustomerChange: Hashable, Sendable {
    /// The raw values name the kinds in the audit trail.
    package enum Kind: String, CaseIterable, Hashable, Sendable {
        case facts = "customer_facts"
        case link = "customer_link"
        case erasure = "customer_erased"
        /// A list of customers was read, from its first page on.
        case list = "customer_list"
        case grant = "customer_grant"
        case grantApproval = "customer_grant_approved"
        case grantWithdrawal = "customer_grant_withdrawn"
    }

    package let kind: Kind
    /// The App Store environment of the change; nil for all environments.
    package let environment: AppStoreEnvironment?
    /// The bytes of the account that the customer is linked to; nil if the link is removed, and for other changes. The
    /// trail stores only their HMAC.
    package let account: [UInt8]?
    /// nil for changes that are not about a grant.
    package let grant: AuditedGrant?

    package init(
        _ kind: Kind, in environment: AppStoreEnvironment?, account: [UInt8]? = nil, grant: AuditedGrant? = nil
    ) {
        self.kind = kind
        self.environment = environment
        self.account = account
        self.grant = grant
    }
}

/// The audited part of a grant. It omits notes and tickets, because they may contain personal data.
package struct AuditedGrant: Hashable, Sendable {
    package let id: UUIDText
    /// The reason, from the list in the configuration.
    package let reason: String
    package let liftsLimits: Bool
    package let maker: OfferGrant.Person
    package let expiresAt: Timestamp

    package init(_ grant: OfferGrant) {
        id = grant.id
        reason = grant.purpose.reason
        liftsLimits = grant.liftsLimits
        maker = grant.maker
        expiresAt = grant.expiresAt
    }
}
