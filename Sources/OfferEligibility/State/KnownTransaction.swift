import OfferCore

/// One transaction, combined from its JWS, receipts and `verifyReceipt` data.
struct KnownTransaction {
    let transactionID: TransactionID
    let originalTransactionID: TransactionID
    let signedDate: Timestamp
    let purchase: Purchase
    /// True if there is a JWS of the transaction.
    let isSigned: Bool

    /// Returns the transactions sorted by purchase date, then by ID.
    static func all(in facts: SubscriberFacts) -> [KnownTransaction] {
        // The most detailed source comes first.
        let kinds = [SubscriberFact.Kind.transaction, .fetchedTransaction, .receiptTransaction]
        var byID: [TransactionID: KnownTransaction] = [:]
        for kind in kinds {
            for fact in facts where fact.key.kind == kind {
                guard let new = KnownTransaction(fact) else { continue }
                byID[new.transactionID] = byID[new.transactionID]?.adding(new) ?? new
            }
        }
        return byID.values.sorted(by: precedes)
    }

    private init?(_ fact: SubscriberFact) {
        switch fact.value {
        case .transaction(let purchase), .receiptTransaction(let purchase), .fetchedTransaction(let purchase):
            self.init(
                transactionID: fact.key.id, originalTransactionID: fact.originalTransactionID,
                signedDate: fact.signedDate, purchase: purchase, isSigned: fact.key.kind == .transaction)
        case .renewalInfo, .fetchedRenewalInfo, .status, .refundRequest, .expiryReason, .wholeHistory,
            .firstAnnouncement, .lastAnnouncement, .renewalChange:
            return nil
        }
    }

    private init(
        transactionID: TransactionID, originalTransactionID: TransactionID, signedDate: Timestamp, purchase: Purchase,
        isSigned: Bool
    ) {
        self.transactionID = transactionID
        self.originalTransactionID = originalTransactionID
        self.signedDate = signedDate
        self.purchase = purchase
        self.isSigned = isSigned
    }

    /// Returns the transaction with the revocation from a later source, which has less data otherwise.
    private func adding(_ other: KnownTransaction) -> KnownTransaction {
        guard other.signedDate > signedDate else { return self }
        var purchase = purchase
        if purchase.revocation?.date != other.purchase.revocation?.date {
            purchase.revocation = other.purchase.revocation
        }
        return KnownTransaction(
            transactionID: transactionID, originalTransactionID: originalTransactionID,
            signedDate: other.signedDate, purchase: purchase, isSigned: isSigned)
    }

    static func precedes(_ one: KnownTransaction, _ other: KnownTransaction) -> Bool {
        guard one.purchase.purchaseDate == other.purchase.purchaseDate else {
            return one.purchase.purchaseDate < other.purchase.purchaseDate
        }
        return one.transactionID.precedes(other.transactionID)
    }
}
