import TestSupport

/// Plausible notifications about a number of subscriptions, for load. The same seed plans the same notifications.
///
/// Plans with other seeds are about the same subscriptions. All are about the app `com.example.app` in Production.
package struct NotificationPlan: Sendable {
    /// What has happened to a subscription so far.
    private struct Life {
        /// The number of its current period, from 0; nil before the first purchase.
        var period: Int?
        /// When the current period began, in milliseconds.
        var periodStart: Int64 = 0
        var renews = true
        var isExpired = false
    }

    fileprivate enum Event {
        case purchase, resubscription, renewal, renewalOff, renewalOn, downgrade, gracePeriod, expiry, refund
    }

    private var random: SplitMix64
    private var lives: [Life]
    /// The signing date of the next notification. Notifications are a second apart, so 30 million of them lie in the past.
    private var date: Int64 = 1_761_130_767_000

    private static let month: Int64 = 30 * 86_400_000

    /// - Parameter subscriptions: at least 1.
    package init(seed: UInt64, subscriptions: Int) {
        random = SplitMix64(seed: seed)
        lives = Array(repeating: Life(), count: subscriptions)
    }

    package mutating func next() -> PlannedNotification {
        let number = Int.random(in: lives.indices, using: &random)
        let event = event(of: lives[number])
        date += 1000
        apply(event, to: &lives[number])
        return notification(event, number)
    }

    private mutating func event(of life: Life) -> Event {
        guard life.period != nil else { return .purchase }
        let percent = Int.random(in: 0..<100, using: &random)
        guard !life.isExpired else { return percent < 90 ? .resubscription : .refund }
        switch percent {
        case ..<55: return .renewal
        case ..<75: return life.renews ? .renewalOff : .renewalOn
        case ..<80: return .downgrade
        case ..<86: return .gracePeriod
        case ..<96: return .expiry
        default: return .refund
        }
    }

    private func apply(_ event: Event, to life: inout Life) {
        switch event {
        case .purchase, .resubscription, .renewal:
            life = Life(period: (life.period ?? -1) + 1, periodStart: date)
        case .renewalOff: life.renews = false
        case .renewalOn: life.renews = true
        case .expiry, .refund: (life.isExpired, life.renews) = (true, false)
        case .downgrade, .gracePeriod: break
        }
    }

    private mutating func notification(_ event: Event, _ number: Int) -> PlannedNotification {
        let life = lives[number]
        let original = "\(2_000_000_000_000_000 + number * 10_000)"
        let transactionID = "\(2_000_000_000_000_000 + number * 10_000 + (life.period ?? 0))"
        let (type, subtype) = event.typeAndSubtype
        return PlannedNotification(
            uuid: uuid(random.next(), random.next()), type: type, subtype: subtype, transactionID: transactionID,
            originalTransactionID: original, signedDate: date, status: event.status(life.isExpired),
            transaction: transaction(event, life, number, original, transactionID),
            renewalInfo: renewalInfo(event, life, number, original))
    }

    private func transaction(
        _ event: Event, _ life: Life, _ number: Int, _ original: String, _ transactionID: String
    ) -> SamplePayload {
        var payload = Self.plainTransaction
            .with("transactionId", "\"\(transactionID)\"").with("originalTransactionId", "\"\(original)\"")
            .with("webOrderLineItemId", "\"\(transactionID)\"").with("appAccountToken", "\"\(Self.account(number))\"")
            .with("appTransactionId", "\"\(Self.appTransactionID(number))\"").with(
                "purchaseDate", "\(life.periodStart)"
            )
            .with("expiresDate", "\(life.periodStart + Self.month)").with("signedDate", "\(date - 37)")
            .with("transactionReason", life.period == 0 ? #""PURCHASE""# : #""RENEWAL""#)
        if event == .refund {
            payload = payload.with("revocationDate", "\(date - 100)").with("revocationReason", "0")
        }
        return payload
    }

    private func renewalInfo(_ event: Event, _ life: Life, _ number: Int, _ original: String) -> SamplePayload {
        var payload = Self.plainRenewalInfo
            .with("originalTransactionId", "\"\(original)\"").with("appAccountToken", "\"\(Self.account(number))\"")
            .with("appTransactionId", "\"\(Self.appTransactionID(number))\"")
            .with("autoRenewStatus", life.renews ? "1" : "0")
            .with("autoRenewProductId", "\"com.example.app.\(event == .downgrade ? "basic" : "pro").monthly\"")
            .with("renewalDate", "\(life.periodStart + Self.month)").with("signedDate", "\(date - 10)")
        if event == .expiry { payload = payload.with("expirationIntent", "1") }
        if event == .gracePeriod {
            payload = payload.with("isInBillingRetryPeriod", "true").with(
                "gracePeriodExpiresDate", "\(date + Self.month)")
        }
        return payload
    }

    private static let plainTransaction = SamplePayload.transaction.without(
        "revocationDate", "revocationReason", "revocationType", "revocationPercentage", "isUpgraded", "offerType",
        "offerIdentifier", "offerDiscountType", "offerPeriod", "previousOriginalTransactionId", "advancedCommerceInfo",
        "billingPlanType", "commitmentInfo")

    private static let plainRenewalInfo = SamplePayload.renewalInfo.without(
        "expirationIntent", "isInBillingRetryPeriod", "gracePeriodExpiresDate", "offerType", "offerIdentifier",
        "offerDiscountType", "offerPeriod", "eligibleWinBackOfferIds", "advancedCommerceInfo", "commitmentInfo",
        "renewalBillingPlanType", "priceIncreaseStatus")

    private static func account(_ number: Int) -> String { uuid(UInt64(number), 0x7E3F_B20B_4CDB_47CC) }

    private static func appTransactionID(_ number: Int) -> String { "\(704_897_469_903_278_336 + number)" }

    private func uuid(_ high: UInt64, _ low: UInt64) -> String { Self.uuid(high, low) }

    /// A UUID of version 4 (RFC 9562).
    private static func uuid(_ high: UInt64, _ low: UInt64) -> String {
        let first = hex(high & 0xFFFF_FFFF_FFFF_0FFF | 0x4000)
        let last = hex(low & 0x3FFF_FFFF_FFFF_FFFF | 0x8000_0000_0000_0000)
        return
            "\(first.prefix(8))-\(first.dropFirst(8).prefix(4))-\(first.suffix(4))-\(last.prefix(4))-\(last.dropFirst(4))"
    }

    private static func hex(_ number: UInt64) -> String {
        let digits = String(number, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }
}

extension NotificationPlan.Event {
    fileprivate var typeAndSubtype: (type: String, subtype: String?) {
        switch self {
        case .purchase: ("SUBSCRIBED", "INITIAL_BUY")
        case .resubscription: ("SUBSCRIBED", "RESUBSCRIBE")
        case .renewal: ("DID_RENEW", nil)
        case .renewalOff: ("DID_CHANGE_RENEWAL_STATUS", "AUTO_RENEW_DISABLED")
        case .renewalOn: ("DID_CHANGE_RENEWAL_STATUS", "AUTO_RENEW_ENABLED")
        case .downgrade: ("DID_CHANGE_RENEWAL_PREF", "DOWNGRADE")
        case .gracePeriod: ("DID_FAIL_TO_RENEW", "GRACE_PERIOD")
        case .expiry: ("EXPIRED", "VOLUNTARY")
        case .refund: ("REFUND", nil)
        }
    }

    /// Apple's `status`.
    fileprivate func status(_ isExpired: Bool) -> Int {
        switch self {
        case .refund: 5
        case .gracePeriod: 4
        default: isExpired ? 2 : 1
        }
    }
}
