package import OfferCore
package import OfferEligibility

/// The identifiers used to look up a customer.
package struct CustomerQuery: Hashable, Sendable {
    /// The customer's identifier; nil if only proofs identify the customer.
    package let identifier: CustomerIdentifier?
    /// The purchases that proofs show. All are read, regardless of their number.
    package let purchases: Set<TransactionID>
    /// The Apple Accounts whose purchases are read even if nothing else leads to them.
    package let appleAccounts: Set<TransactionID>

    package init(
        _ identifier: CustomerIdentifier?, purchases: Set<TransactionID> = [], appleAccounts: Set<TransactionID> = []
    ) {
        self.identifier = identifier
        self.purchases = purchases
        self.appleAccounts = appleAccounts
    }
}

/// The numbers of subscriptions and payloads that an erasure removed.
package struct Erasure: Hashable, Sendable {
    package let subscriptions: Int
    package let payloads: Int

    package init(subscriptions: Int, payloads: Int) {
        self.subscriptions = subscriptions
        self.payloads = payloads
    }
}
