/// The refund requests that the App Store has not answered.
struct PendingRefunds {
    private let originalTransactionIDs: Set<TransactionID>

    /// A refund answers the request even if its notification never came.
    init(_ facts: SubscriberFacts, _ transactions: [KnownTransaction], at now: Timestamp) {
        let refunded = Set(transactions.lazy.filter { $0.purchase.revocation != nil }.map(\.transactionID))
        let pending = facts.lazy.filter { fact in
            fact.value == .refundRequest(.open) && now < fact.signedDate + RefundRequest.lifetime
                && !refunded.contains(fact.key.id)
        }
        originalTransactionIDs = Set(pending.map(\.originalTransactionID))
    }

    var isEmpty: Bool { originalTransactionIDs.isEmpty }

    func contains(_ originalTransactionID: TransactionID) -> Bool {
        originalTransactionIDs.contains(originalTransactionID)
    }
}
