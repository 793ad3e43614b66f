/// The accounts of the app that own a subscription; empty if it is anonymous.
package struct SubscriptionOwners: Hashable, Sendable {
    /// The account of the earliest purchase comes first.
    package let accounts: [UUIDText]

    /// - Parameters:
    ///   - facts: the facts about one `originalTransactionId`.
    ///   - erased: accounts that no longer exist.
    ///   - moved: the account to which a caller has moved the subscription.
    package init(
        of facts: [SubscriberFact], by policy: OwnershipPolicy, erased: Set<UUIDText> = [],
        moved: UUIDText? = nil
    ) {
        if let moved, !erased.contains(moved) {
            accounts = [moved]
            return
        }
        var seen = erased
        let claims = Claim.all(in: facts)
        switch policy {
        case .first: accounts = claims.first { !erased.contains($0.account) }.map { [$0.account] } ?? []
        case .transfer: accounts = claims.last { !erased.contains($0.account) }.map { [$0.account] } ?? []
        case .share: accounts = claims.map(\.account).filter { seen.insert($0).inserted }
        }
    }
}

/// An account that a purchase names.
private struct Claim {
    let account: UUIDText
    let purchaseDate: Timestamp
    let transactionID: TransactionID

    /// The date of the purchase counts, not that of the arrival. An account that only the renewal info names is the
    /// account of the coming renewals, so it comes last.
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
