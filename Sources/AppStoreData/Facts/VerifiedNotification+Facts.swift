import OfferCore
import OfferCrypto
package import OfferEligibility

extension VerifiedNotification {
    /// The facts that a notification yields, at most five. A notification without a transaction yields none.
    ///
    /// Each fact is merged separately, because the transaction may cover an old period that nothing else reports. The
    /// status and the renewal info describe the subscription. The notification type yields a fact only if it adds
    /// information that no payload has.
    package var facts: [SubscriberFact] {
        get throws(OpenSSLError) {
            guard let transaction = contents.transaction else { return [] }
            var facts = [try SubscriberFact(transaction)]
            if let record = contents.record { facts.append(try SubscriberFact(record)) }
            let digest = try SHA256.hash(notification.json)
            for value in [status, refundRequest, expiryReason, renewalChange].compactMap({ $0 }) {
                facts.append(
                    SubscriberFact(
                        value, transactionID: transaction.transactionID,
                        originalTransactionID: transaction.originalTransactionID, signedDate: signedDate,
                        digest: digest))
            }
            return facts
        }
    }

    /// The payloads as signed. The facts contain the digests of the notification and of each JWS in it.
    package var signedTexts: [[UInt8]] {
        [notification.json] + [contents.transaction?.json, contents.record?.renewalInfo.json].compactMap { $0 }
    }

    /// The date of facts that only the notification states: the latest signing date in it. The App Store signs the
    /// parts of a notification milliseconds apart and in any order, but they are equally new.
    private var signedDate: Timestamp {
        let parts = [contents.transaction?.signedDate, contents.record?.renewalInfo.signedDate]
        return parts.compactMap { $0 }.reduce(notification.signedDate, max)
    }

    private var status: SubscriberFact.Value? {
        guard case .data(let data) = notification.content else { return nil }
        return data.status.map { .status($0) }
    }

    private var refundRequest: SubscriberFact.Value? {
        switch notification.type {
        case .consumptionRequest: .refundRequest(.open)
        case .refund: .refundRequest(.granted)
        case .refundDeclined: .refundRequest(.declined)
        default: nil
        }
    }

    /// The types of notifications about changes that a later renewal info replaces.
    private static let changes: Set<NotificationType> = [
        .didChangeRenewalPreference, .didChangeRenewalStatus, .didFailToRenew, .expired, .gracePeriodExpired,
        .offerRedeemed, .refund, .refundReversed, .revoke,
    ]

    private var renewalChange: SubscriberFact.Value? {
        let isRecovery = notification.type == .didRenew && notification.subtype == .billingRecovery
        guard Self.changes.contains(notification.type) || isRecovery, let record = contents.record else { return nil }
        return .renewalChange(
            RenewalChange(
                type: notification.type.rawValue, subtype: notification.subtype?.rawValue,
                renewal: Renewal(record.renewalInfo)))
    }

    private var expiryReason: SubscriberFact.Value? {
        guard notification.type == .expired else { return nil }
        return .expiryReason(ExpiryReason(rawValue: notification.subtype?.rawValue ?? ""))
    }
}
