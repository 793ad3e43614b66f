package import OfferCore

/// One purchase (an `originalTransactionId`) with its facts and its owners.
package struct OwnedPurchase: Sendable {
    package let original: TransactionID
    package let facts: [SubscriberFact]
    /// The accounts that own the purchase. Empty for an anonymous purchase, which belongs to its Apple Account. Only
    /// ``OwnershipPolicy/share`` allows several owners.
    package let owners: [Customer]
    /// The `appTransactionID` in the latest fact that has one; nil if none has, as in receipts and old data.
    package let appleAccount: TransactionID?

    /// The owner comes from a link of the purchase, else from tokens in the facts, else from a link of the Apple
    /// Account.
    init(_ original: TransactionID, _ facts: [SubscriberFact], _ links: AccountLinks, by policy: OwnershipPolicy) {
        self.original = original
        self.facts = facts
        appleAccount = facts.lazy.filter { $0.appTransactionID != nil }.max { $1.replaces($0) }?.appTransactionID
        if let linked = Self.linkedAccount(original, facts, links) {
            owners = [linked]
            return
        }
        let named = SubscriptionOwners(of: facts, by: policy).accounts.map(Customer.appAccountToken)
        // The link of an Apple Account covers its anonymous purchases. Purchases that name an account need their own
        // links.
        if named.isEmpty, let appleAccount, let linked = links[.appTransactionID(appleAccount)] {
            owners = [linked]
        } else {
            owners = named
        }
    }

    private static func linkedAccount(
        _ original: TransactionID, _ facts: [SubscriberFact], _ links: AccountLinks
    ) -> Customer? {
        guard !links.isEmpty else { return nil }
        return links[.originalTransactionID(original)]
            ?? transactions(of: facts).lazy.compactMap { links[.transactionID($0)] }.first
    }

    package var isAnonymous: Bool { owners.isEmpty }

    package func belongs(toAnyOf accounts: Set<Customer>) -> Bool { !accounts.isDisjoint(with: owners) }

    package func isNamed(by identifier: CustomerIdentifier) -> Bool { names.contains(identifier) }

    /// The App Store's identifiers of the purchase.
    package var names: Set<CustomerIdentifier> {
        var names: Set<CustomerIdentifier> = [.originalTransactionID(original)]
        names.formUnion(Self.transactions(of: facts).map(CustomerIdentifier.transactionID))
        if let appleAccount { names.insert(.appTransactionID(appleAccount)) }
        return names
    }

    /// True if the purchase is an auto-renewable subscription.
    package var isSubscription: Bool {
        facts.contains { fact in
            switch fact.value {
            case .transaction(let purchase), .receiptTransaction(let purchase), .fetchedTransaction(let purchase):
                purchase.isSubscriptionPeriod
            case .renewalInfo, .fetchedRenewalInfo: true
            case .status, .refundRequest, .expiryReason, .wholeHistory, .firstAnnouncement, .lastAnnouncement,
                .renewalChange:
                false
            }
        }
    }

    private static func transactions(of facts: [SubscriberFact]) -> [TransactionID] {
        facts.filter(\.key.kind.isTransaction).map(\.key.id).sorted { $0.precedes($1) }
    }
}
