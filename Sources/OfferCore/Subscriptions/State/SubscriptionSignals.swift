/// What is known about one subscription besides its transactions.
struct SubscriptionSignals {
    private(set) var renewal: Signed<Renewal>?
    private(set) var status: Signed<SubscriptionStatus>?
    private(set) var expiryReason: Signed<ExpiryReason>?

    static func all(in facts: SubscriberFacts) -> [TransactionID: SubscriptionSignals] {
        var byID: [TransactionID: SubscriptionSignals] = [:]
        for fact in facts { byID[fact.originalTransactionID, default: SubscriptionSignals()].add(fact) }
        return byID
    }

    private mutating func add(_ fact: SubscriberFact) {
        switch fact.value {
        case .renewalInfo(let value): renewal = Signed(value: value, signedDate: fact.signedDate)
        case .status(let value): status = Signed(value: value, signedDate: fact.signedDate)
        case .expiryReason(let value): expiryReason = Signed(value: value, signedDate: fact.signedDate)
        case .transaction, .receiptTransaction, .refundRequest: break
        }
    }
}
