package import OfferCore
package import OfferEligibility

/// The grants of offers to single customers.
package protocol GrantStore: Sendable {
    /// Stores a new grant, unless the customer has another one for the offer that may still be used.
    func make(_ request: GrantRequest) async throws(StoreError) -> GrantResult

    /// Records the approval of a grant by a second person.
    func approve(_ id: UUIDText, _ act: OfferGrant.Act) async throws(StoreError) -> GrantChange

    /// Withdraws a grant. A signature that was issued stays valid until it expires.
    func withdraw(_ id: UUIDText, _ act: OfferGrant.Act) async throws(StoreError) -> GrantChange

    func grant(_ id: UUIDText) async throws(StoreError) -> StoredGrant?

    /// Returns grants of an app by persons, the newest first.
    /// - Parameters:
    ///   - selection: the grants to return.
    ///   - time: only grants made before this time; nil for all.
    func grants(
        in app: AppScope, _ selection: GrantSelection, before time: Timestamp?, limit: Int
    ) async throws(StoreError) -> [OfferGrant]

    /// Returns the number of grants that a person made without approval since a time.
    func grantsMade(by person: OfferGrant.Person, in app: AppScope, since time: Timestamp) async throws(StoreError)
        -> Int
}

package enum GrantSelection: Hashable, Sendable {
    case all
    /// Those that a second person must still approve.
    case awaitingApproval(at: Timestamp)
}

package struct StoredGrant: Hashable, Sendable {
    package let app: AppScope
    package let grant: OfferGrant

    package init(app: AppScope, grant: OfferGrant) {
        self.app = app
        self.grant = grant
    }
}

/// A grant to make.
package struct GrantRequest: Sendable {
    package let app: AppScope
    /// The grant. Its approval is ``OfferGrant/Approval/notNeeded``.
    package let grant: OfferGrant
    /// The identifiers whose records count for the customer.
    package let names: Set<CustomerIdentifier>
    /// The customer's accounts; none if they are unknown.
    package let accounts: Set<Customer>
    /// The identifiers that hold reservations for the customer.
    package let holders: [CustomerIdentifier]
    /// The number of grants that the person may make since ``budgetStart`` without approval.
    package let budget: Int
    package let budgetStart: Timestamp

    package init(
        app: AppScope, grant: OfferGrant, names: Set<CustomerIdentifier>, accounts: Set<Customer>,
        holders: [CustomerIdentifier], budget: Int, budgetStart: Timestamp
    ) {
        self.app = app
        self.grant = grant
        self.names = names
        self.accounts = accounts
        self.holders = holders
        self.budget = budget
        self.budgetStart = budgetStart
    }
}

package enum GrantResult: Hashable, Sendable {
    /// The grant is durable. If the person's budget is used up, it needs approval.
    case made(OfferGrant)
    /// The customer has this grant for the offer.
    case exists(OfferGrant)
}

package enum GrantChange: Hashable, Sendable {
    case done(StoredGrant)
    case unknown
    /// The grant does not wait for approval, or it was withdrawn or has expired.
    case tooLate(OfferGrant)
    /// The person who made the grant cannot approve it.
    case samePerson
}
