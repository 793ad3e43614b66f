/// One transaction, put together from the JWS and the receipts that report it.
struct KnownTransaction {
    let transactionID: TransactionID
    let originalTransactionID: TransactionID
    let signedDate: Timestamp
    let purchase: Purchase

    /// Ascending by purchase date. The IDs decide between equal dates, the shorter and smaller one first.
    static func all(in facts: SubscriberFacts) -> [KnownTransaction] {
        var byID: [TransactionID: KnownTransaction] = [:]
        for fact in facts {
            guard let new = KnownTransaction(fact) else { continue }
            guard let known = byID[new.transactionID] else {
                byID[new.transactionID] = new
                continue
            }
            byID[new.transactionID] =
                fact.key.kind == .transaction ? new.adding(receipt: known) : known.adding(receipt: new)
        }
        return byID.values.sorted(by: precedes)
    }

    private init?(_ fact: SubscriberFact) {
        switch fact.value {
        case .transaction(let purchase), .receiptTransaction(let purchase):
            self.init(
                transactionID: fact.key.id, originalTransactionID: fact.originalTransactionID,
                signedDate: fact.signedDate, purchase: purchase)
        case .renewalInfo, .status, .refundRequest, .expiryReason: return nil
        }
    }

    private init(
        transactionID: TransactionID, originalTransactionID: TransactionID, signedDate: Timestamp, purchase: Purchase
    ) {
        self.transactionID = transactionID
        self.originalTransactionID = originalTransactionID
        self.signedDate = signedDate
        self.purchase = purchase
    }

    /// The JWS says more than a receipt, but a later receipt knows whether the purchase has been refunded since.
    private func adding(receipt: KnownTransaction) -> KnownTransaction {
        guard receipt.signedDate > signedDate else { return self }
        var purchase = purchase
        if purchase.revocation?.date != receipt.purchase.revocation?.date {
            purchase.revocation = receipt.purchase.revocation
        }
        return KnownTransaction(
            transactionID: transactionID, originalTransactionID: originalTransactionID,
            signedDate: receipt.signedDate, purchase: purchase)
    }

    static func precedes(_ one: KnownTransaction, _ other: KnownTransaction) -> Bool {
        guard one.purchase.purchaseDate == other.purchase.purchaseDate else {
            return one.purchase.purchaseDate < other.purchase.purchaseDate
        }
        return one.transactionID.precedes(other.transactionID)
    }
}
