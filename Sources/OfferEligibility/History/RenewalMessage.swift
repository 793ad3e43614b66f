import OfferCore

/// A message of the App Store about what follows a period.
struct RenewalMessage {
    let at: Timestamp
    /// The type of the notification; empty for a renewal info or a subtype without one.
    let type: String
    let graceEnd: Timestamp?
    /// Why the subscription ended, if the message says so.
    let reason: Subscription.EndReason?
    /// False if the customer turned auto-renew off.
    let autoRenews: Bool
    /// True if the App Store still tries to collect the renewal.
    let isRetrying: Bool

    /// True if the App Store could not collect the renewal.
    var isAboutFailure: Bool {
        type == RenewalChange.billingErrorType || graceEnd != nil || isRetrying || reason == .billing
    }

    /// True if nothing follows the period.
    var isAboutEnd: Bool { !isRetrying && (reason != nil || !autoRenews) }

    /// Returns the messages signed by a time, by subscription, in ascending order.
    static func all(in facts: SubscriberFacts, until end: Timestamp) -> [TransactionID: [RenewalMessage]] {
        var messages: [TransactionID: [RenewalMessage]] = [:]
        for fact in facts where fact.signedDate <= end {
            guard let message = RenewalMessage(fact) else { continue }
            messages[fact.originalTransactionID, default: []].append(message)
        }
        return messages.mapValues { $0.sorted { ($0.at, $0.order) < ($1.at, $1.order) } }
    }

    /// A fixed order of messages of the same time.
    private var order: String {
        "\(type) \(reason?.rawValue ?? "") \(graceEnd?.milliseconds ?? 0) \(autoRenews) \(isRetrying)"
    }
}

extension RenewalMessage {
    private init?(_ fact: SubscriberFact) {
        switch fact.value {
        case .renewalChange(let change): self.init(change.renewal, at: fact.signedDate, change.type)
        case .renewalInfo(let renewal), .fetchedRenewalInfo(let renewal):
            self.init(renewal, at: fact.signedDate, "")
        case .expiryReason(let reason):
            self.init(
                at: fact.signedDate, type: "", graceEnd: nil, reason: Subscription.EndReason(reason), autoRenews: true,
                isRetrying: false)
        case .transaction, .receiptTransaction, .fetchedTransaction, .status, .refundRequest, .wholeHistory,
            .firstAnnouncement, .lastAnnouncement:
            return nil
        }
    }

    private init(_ renewal: Renewal, at: Timestamp, _ type: String) {
        self.init(
            at: at, type: type, graceEnd: renewal.gracePeriodExpiresDate,
            reason: renewal.expirationIntent.map { Subscription.EndReason($0) },
            autoRenews: renewal.autoRenewStatus != .off, isRetrying: renewal.isInBillingRetryPeriod == true)
    }
}
