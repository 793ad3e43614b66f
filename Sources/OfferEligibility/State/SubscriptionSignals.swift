import OfferCore

/// The known data about one subscription, except its transactions.
struct SubscriptionSignals {
    private(set) var renewal: Signed<Renewal>?
    private(set) var status: Signed<SubscriptionStatus>?
    private(set) var expiryReason: Signed<ExpiryReason>?
    /// The first and last announcements of each period, in no particular order. An announcement is a renewal info with
    /// or without an offer for the next period.
    private(set) var announcements: [Signed<Renewal>] = []

    /// The last switch of auto-renew.
    private(set) var autoRenewChange: Subscription.AutoRenewChange?
    /// The times of billing errors, in no particular order.
    private(set) var billingErrors: [Timestamp] = []

    static func all(in facts: SubscriberFacts) -> [TransactionID: SubscriptionSignals] {
        var byID: [TransactionID: SubscriptionSignals] = [:]
        for fact in facts { byID[fact.originalTransactionID, default: SubscriptionSignals()].add(fact) }
        return byID
    }

    private mutating func add(_ fact: SubscriberFact) {
        switch fact.value {
        case .renewalInfo(let value): add(value, fact, isSigned: true)
        case .fetchedRenewalInfo(let value): add(value, fact, isSigned: false)
        case .status(let value): status = Signed(value: value, signedDate: fact.signedDate)
        case .expiryReason(let value): expiryReason = Signed(value: value, signedDate: fact.signedDate)
        case .firstAnnouncement(let value), .lastAnnouncement(let value):
            announcements.append(Signed(value: value, signedDate: fact.signedDate))
        case .renewalChange(let change): add(change, at: fact.signedDate)
        case .transaction, .receiptTransaction, .fetchedTransaction, .refundRequest, .wholeHistory: break
        }
    }

    private mutating func add(_ change: RenewalChange, at date: Timestamp) {
        switch change.type {
        case RenewalChange.autoRenewType:
            let status = change.renewal.commitment?.autoRenewStatus ?? change.renewal.autoRenewStatus
            if let known = autoRenewChange, known.at >= date {
                // The order of two switches in the same millisecond is unknown.
                if known.at == date, known.isOn != (status == .on) {
                    autoRenewChange = Subscription.AutoRenewChange(at: date, isOn: nil)
                }
                return
            }
            autoRenewChange = Subscription.AutoRenewChange(at: date, isOn: status == .on)
        case RenewalChange.billingErrorType: billingErrors.append(date)
        default: break
        }
    }

    /// The newer renewal info wins. For equal dates, the signed one wins.
    private mutating func add(_ value: Renewal, _ fact: SubscriberFact, isSigned: Bool) {
        if let renewal, renewal.signedDate > fact.signedDate || (renewal.signedDate == fact.signedDate && !isSigned) {
            return
        }
        renewal = Signed(value: value, signedDate: fact.signedDate)
    }
}
