import OfferCore

/// The known data about one subscription, except its transactions.
struct SubscriptionSignals {
    private(set) var renewal: Signed<Renewal>?
    private(set) var status: Signed<SubscriptionStatus>?
    private(set) var expiryReason: Signed<ExpiryReason>?
    /// The first and last announcements of each period, in no particular order. An announcement is a renewal info with
    /// or without an offer for the next period.
    private(set) var announcements: [Signed<Renewal>] = []

    /// In no particular order.
    private var changes: [Signed<RenewalChange>] = []
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
        case .renewalChange(let change):
            changes.append(Signed(value: change, signedDate: fact.signedDate))
            if change.type == RenewalChange.billingErrorType { billingErrors.append(fact.signedDate) }
        case .transaction, .receiptTransaction, .fetchedTransaction, .refundRequest, .wholeHistory: break
        }
    }

    /// Returns the last switch of auto-renew; nil if none is known.
    /// - Parameter isCommitted: true if the subscription is now in a commitment.
    func autoRenewChange(isCommitted: Bool) -> Subscription.AutoRenewChange? {
        let switches = changes.filter { $0.value.type == RenewalChange.autoRenewType }
        guard let at = switches.map(\.signedDate).max() else { return nil }
        let last = switches.filter { $0.signedDate == at }.map(\.value.renewal)
        // The order of two switches in the same millisecond is unknown.
        let choices = Set(last.map(\.choice))
        return Subscription.AutoRenewChange(
            at: at, isOn: choices.count == 1 ? last[0].choice.map { $0 == .on } : nil,
            isCertain: last.allSatisfy { isChoice($0, signed: at, isCommitted: isCommitted) })
    }

    /// Returns false if a notification about auto-renew may concern only the next bill of a commitment, because the
    /// choice for the end of the commitment was the same before.
    private func isChoice(_ renewal: Renewal, signed date: Timestamp, isCommitted: Bool) -> Bool {
        guard let commitment = renewal.commitment else { return !isCommitted }
        guard let choice = commitment.autoRenewStatus else { return false }
        let known =
            announcements + changes.map { Signed(value: $0.value.renewal, signedDate: $0.signedDate) }
        let before = known.filter { $0.signedDate < date && $0.value.commitment?.autoRenewStatus != nil }
            .max { $0.signedDate < $1.signedDate }
        guard let before else { return renewal.autoRenewStatus != choice }
        return before.value.choice != choice
    }

    /// The newer renewal info wins. For equal dates, the signed one wins.
    private mutating func add(_ value: Renewal, _ fact: SubscriberFact, isSigned: Bool) {
        if let renewal, renewal.signedDate > fact.signedDate || (renewal.signedDate == fact.signedDate && !isSigned) {
            return
        }
        renewal = Signed(value: value, signedDate: fact.signedDate)
    }
}
