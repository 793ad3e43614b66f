package import OfferCore

/// The accounts of the app that own a subscription; empty if it is anonymous.
package struct SubscriptionOwners: Hashable, Sendable {
    /// The owners. The account of the earliest purchase comes first.
    package let accounts: [UUIDText]

    /// - Parameter facts: the facts about one `originalTransactionId`.
    package init(of facts: [SubscriberFact], by policy: OwnershipPolicy) {
        var seen: Set<UUIDText> = []
        let claims = Claim.all(in: facts)
        switch policy {
        case .first: accounts = claims.first.map { [$0.account] } ?? []
        case .transfer: accounts = claims.last.map { [$0.account] } ?? []
        case .share: accounts = claims.map(\.account).filter { seen.insert($0).inserted }
        }
    }
}

/// An account that a fact names.
private struct Claim {
    let account: UUIDText
    let purchaseDate: Timestamp
    let transactionID: TransactionID

    /// Returns the claims sorted by purchase date. The account in a renewal info comes last, because it applies to
    /// future renewals.
    static func all(in facts: [SubscriberFact]) -> [Claim] {
        facts.compactMap(Claim.init).sorted { one, other in
            one.purchaseDate == other.purchaseDate
                ? one.transactionID.precedes(other.transactionID) : one.purchaseDate < other.purchaseDate
        }
    }

    private init?(_ fact: SubscriberFact) {
        guard let account = fact.appAccountToken else { return nil }
        self.account = account
        transactionID = fact.key.id
        switch fact.value {
        case .transaction(let purchase), .receiptTransaction(let purchase), .fetchedTransaction(let purchase):
            purchaseDate = purchase.purchaseDate
        default: purchaseDate = .max
        }
    }
}
