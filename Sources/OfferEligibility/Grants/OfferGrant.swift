package import OfferCore

/// The permission for one customer to have one offer once, given by a person for a reason or by a personal link, until a
/// date.
///
/// It replaces the offer's rule. `total` and the refusals that apply under any rule still hold.
package struct OfferGrant: Hashable, Sendable {
    /// The name of the rule in decisions that are based on a grant. No configured rule may have it.
    package static let ruleName = "grant"

    package let id: UUIDText
    package let subject: RecordedCustomer
    /// The account of the app for which the grant was made; nil if it is unknown, or after an erasure. Persons with
    /// accounts of their own may share an Apple Account.
    package let account: Customer?
    package let productID: ProductID
    package let offerID: OfferID
    package let purpose: Purpose
    /// True if the grant also replaces `perCustomer` and `cooldown`.
    package let liftsLimits: Bool
    package let maker: Person
    package let at: Timestamp
    package let expiresAt: Timestamp
    package let approval: Approval
    /// nil unless the grant was withdrawn.
    package let withdrawal: Act?

    package init(
        id: UUIDText, subject: RecordedCustomer, account: Customer?, productID: ProductID, offerID: OfferID,
        purpose: Purpose, liftsLimits: Bool, maker: Person, at: Timestamp, expiresAt: Timestamp, approval: Approval,
        withdrawal: Act? = nil
    ) {
        self.id = id
        self.subject = subject
        self.account = account
        self.productID = productID
        self.offerID = offerID
        self.purpose = purpose
        self.liftsLimits = liftsLimits
        self.maker = maker
        self.at = at
        self.expiresAt = expiresAt
        self.approval = approval
        self.withdrawal = withdrawal
    }

    /// The reason for a grant, as a person states it.
    package struct Purpose: Hashable, Sendable {
        /// One of the reasons in the configuration.
        package let reason: String
        /// nil if there is none, or after an erasure.
        package let note: String?
        /// The number of a support ticket; nil if there is none, or after an erasure.
        package let ticket: String?

        package init(reason: String, note: String? = nil, ticket: String? = nil) {
            self.reason = reason
            self.note = note
            self.ticket = ticket
        }

        package static let maximumNoteSize = 1_000
        package static let maximumTicketSize = 100
    }

    /// A person in the console, or a caller of the API.
    package struct Person: Hashable, Sendable {
        package let name: String
        /// The person's identifier at the identity provider; nil for others.
        package let subject: String?

        package init(_ name: String, subject: String? = nil) {
            self.name = name
            self.subject = subject
        }

        /// Returns true if both may be the same person.
        package func mayBe(_ other: Person) -> Bool {
            name == other.name || subject != nil && subject == other.subject
        }
    }

    package struct Act: Hashable, Sendable {
        package let person: Person
        package let at: Timestamp

        package init(by person: Person, at: Timestamp) {
            self.person = person
            self.at = at
        }
    }

    /// The consent of a second person, needed for grants above the daily budget.
    package enum Approval: Hashable, Sendable {
        case notNeeded
        case needed
        case given(Act)
    }
}

extension OfferGrant {
    package enum State: String, CaseIterable, Hashable, Sendable {
        /// A second person must approve the grant before it counts.
        case awaitingApproval = "awaiting_approval"
        case open
        /// The customer holds a signature that can be redeemed.
        case signed
        case redeemed
        case expired
        case withdrawn
    }

    package func isAbout(_ productID: ProductID, _ offerID: OfferID) -> Bool {
        self.productID == productID && self.offerID == offerID
    }

    /// Returns true if the grant may be for a customer with some accounts; none if they are unknown.
    package func mayBeFor(_ accounts: Set<Customer>) -> Bool {
        account.map { accounts.isEmpty || accounts.contains($0) } ?? true
    }

    /// True if neither its date, a person nor a missing approval stops the grant. It may have been used.
    package func isInForce(at now: Timestamp) -> Bool {
        withdrawal == nil && approval != .needed && now < expiresAt
    }

    /// Returns true if a redemption of this offer uses the grant, whatever allowed the signature. Otherwise, the customer
    /// would get the offer twice.
    ///
    /// The grant has the time of this machine's clock. If that clock is ahead, a redemption with a signature under the
    /// grant seems older than the grant.
    /// - Parameter redemption: the time at which the customer redeemed the offer, according to Apple's clock. The period
    ///   may begin later.
    package func isUsed(at redemption: Timestamp) -> Bool { redemption + .clockTolerance >= at }
}

extension OfferGrant {
    /// The reason of a grant by a personal link. No person can choose it, because a configured reason has no colon.
    package static let campaignReason = "link:campaign"

    /// The campaign whose link gave the grant; nil if a person made it.
    package var campaign: String? { purpose.reason == Self.campaignReason ? maker.name : nil }
}
