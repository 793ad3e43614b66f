import OfferCore

/// The refund requests that the App Store has not answered.
struct PendingRefunds {
    private let originalTransactionIDs: Set<TransactionID>
    /// The subscriptions in notifications or responses from the App Store.
    private let reported: Set<TransactionID>

    /// A refund closes the request even if its notification never arrived.
    init(_ facts: SubscriberFacts, _ transactions: [KnownTransaction], at now: Timestamp) {
        let refunded = Set(transactions.lazy.filter { $0.purchase.revocation != nil }.map(\.transactionID))
        let pending = facts.lazy.filter { fact in
            fact.value == .refundRequest(.open) && now < fact.signedDate + RefundRequest.lifetime
                && !refunded.contains(fact.key.id)
        }
        originalTransactionIDs = Set(pending.map(\.originalTransactionID))
        let reports = facts.lazy.filter { fact in
            switch fact.key.kind {
            case .status, .refundRequest, .expiryReason, .wholeHistory: true
            case .transaction, .receiptTransaction, .renewalInfo, .fetchedTransaction, .fetchedRenewalInfo,
                .firstAnnouncement, .lastAnnouncement, .renewalChange:
                false
            }
        }
        reported = Set(reports.map(\.originalTransactionID))
    }

    /// Returns true if all refund requests would be known. Data from devices does not contain them.
    func areKnown(of subscriptions: [SubscriptionPeriods]) -> Bool {
        subscriptions.allSatisfy { reported.contains($0.originalTransactionID) }
    }

    var isEmpty: Bool { originalTransactionIDs.isEmpty }

    func contains(_ originalTransactionID: TransactionID) -> Bool {
        originalTransactionIDs.contains(originalTransactionID)
    }
}
