import TestSupport

/// Plausible notifications about a number of subscriptions, for load. The same seed plans the same notifications.
///
/// Plans with other seeds are about the same subscriptions. All are about the app `com.example.app` in Production. A twelfth each
/// of the subscriptions has seats that are added, refunded and given up, is the seat of a member, a family member's share, or a
/// commitment of twelve bills. The others also redeem offers of retention messages. They are in three storefronts.
package struct NotificationPlan: Sendable {
    private enum Kind {
        case plain, seats, assigned, familyShared, commitment

        init(ofSubscription number: Int) {
            switch number % 12 {
            case 3: self = .seats
            case 5: self = .commitment
            case 7: self = .assigned
            case 9: self = .familyShared
            default: self = .plain
            }
        }

        /// Apple's `inAppOwnershipType`.
        var ownership: String {
            switch self {
            case .assigned: "ASSIGNED"
            case .familyShared: "FAMILY_SHARED"
            case .plain, .seats, .commitment: "PURCHASED"
            }
        }

        var isShare: Bool { self == .assigned || self == .familyShared }
    }

    /// What has happened to a subscription so far.
    private struct Life {
        /// The number of its current period, from 0; nil before the first purchase.
        var period: Int?
        /// When the current period began, in milliseconds.
        var periodStart: Int64 = 0
        var renews = true
        var isExpired = false
        /// The seats added in the current period, in a transaction of their own; nil if there are none.
        var addedSeats: Int?
        /// The refunded ones of them.
        var revokedSeats = 0
        /// The additions of seats in all periods.
        var additions = 0
        /// Whether the current period was bought with an offer of a retention message, and whether the next one will be.
        var offers = (current: false, next: false)

        /// A bill that is not the last of its commitment is followed by another.
        func isBound(_ kind: Kind) -> Bool {
            kind == .commitment && (period ?? 0) % NotificationPlan.bills < NotificationPlan.bills - 1
        }
    }

    fileprivate enum Event {
        case purchase, resubscription, renewal, renewalOff, renewalOn, downgrade, gracePeriod, expiry, refund,
            revocation
        case offerRedeemed, seatsAdded, seatsReduced, someSeatsRefunded, seatsRefunded, seatsUnclaimed

        /// Whether it is about the added seats.
        var isAboutSeats: Bool { [.seatsAdded, .someSeatsRefunded, .seatsRefunded].contains(self) }
    }

    private var random: SplitMix64
    private var lives: [Life]
    /// The signing date of the next notification. Notifications are a second apart, so 30 million of them lie in the past.
    private var date: Int64 = 1_761_130_767_000

    private static let month: Int64 = 30 * 86_400_000
    private static let bills = 12

    /// - Parameter subscriptions: at least 1.
    package init(seed: UInt64, subscriptions: Int) {
        random = SplitMix64(seed: seed)
        lives = Array(repeating: Life(), count: subscriptions)
    }

    package mutating func next() -> PlannedNotification {
        let number = Int.random(in: lives.indices, using: &random)
        let kind = Kind(ofSubscription: number)
        let event = event(of: lives[number], kind)
        date += 1000
        apply(event, to: number)
        return notification(event, number, kind)
    }

    private mutating func event(of life: Life, _ kind: Kind) -> Event {
        guard life.period != nil else { return .purchase }
        let percent = Int.random(in: 0..<100, using: &random)
        guard !life.isExpired else { return percent < 90 || kind.isShare ? .resubscription : .refund }
        if kind == .seats, percent < 30 {
            guard let seats = life.addedSeats else { return .seatsAdded }
            switch percent {
            case ..<10: return life.revokedSeats + 1 < seats ? .someSeatsRefunded : .seatsRefunded
            case ..<20: return .seatsRefunded
            case ..<25: return .seatsReduced
            default: return .seatsUnclaimed
            }
        }
        // The product of a commitment stays, and members decide nothing about what is paid.
        switch percent {
        case ..<55: return .renewal
        case ..<75: return kind.isShare ? .renewal : life.renews ? .renewalOff : .renewalOn
        case ..<80: return kind.isShare || kind == .commitment ? .renewal : .downgrade
        case ..<86: return .gracePeriod
        case ..<90: return kind == .plain ? .offerRedeemed : .renewal
        case ..<96: return life.isBound(kind) ? .renewal : .expiry
        default: return kind.isShare ? .revocation : .refund
        }
    }

    private mutating func apply(_ event: Event, to number: Int) {
        let life = lives[number]
        switch event {
        case .purchase, .resubscription, .renewal:
            let isBought = event != .renewal
            lives[number] = Life(
                period: (life.period ?? -1) + 1, periodStart: date, renews: isBought || life.renews,
                additions: life.additions, offers: (!isBought && life.offers.next, false))
        case .renewalOff: lives[number].renews = false
        case .renewalOn: lives[number].renews = true
        case .expiry, .refund, .revocation: (lives[number].isExpired, lives[number].renews) = (true, false)
        case .offerRedeemed: (lives[number].offers.next, lives[number].renews) = (true, true)
        case .seatsAdded:
            lives[number].addedSeats = Int.random(in: 1...9, using: &random)
            lives[number].additions += 1
        case .someSeatsRefunded: lives[number].revokedSeats += 1
        case .seatsRefunded: (lives[number].addedSeats, lives[number].revokedSeats) = (nil, 0)
        case .downgrade, .gracePeriod, .seatsReduced, .seatsUnclaimed: break
        }
    }

    private mutating func notification(_ event: Event, _ number: Int, _ kind: Kind) -> PlannedNotification {
        let life = lives[number]
        let first = 2_000_000_000_000_000 + number * 10_000
        let original = "\(first)"
        let transactionID = "\(first + (event.isAboutSeats ? 5_000 + life.additions : life.period ?? 0))"
        let (type, subtype) = event.typeAndSubtype
        return PlannedNotification(
            uuid: uuid(random.next(), random.next()), type: type, subtype: subtype, transactionID: transactionID,
            originalTransactionID: original, signedDate: date, status: event.status(life.isExpired),
            transaction: transaction(event, life, number, kind, original, transactionID),
            renewalInfo: renewalInfo(event, life, number, kind, original),
            unclaimedSeats: event == .seatsUnclaimed ? (0..<2).map { _ in uuid(random.next(), random.next()) } : [])
    }

    private func transaction(
        _ event: Event, _ life: Life, _ number: Int, _ kind: Kind, _ original: String, _ transactionID: String
    ) -> SamplePayload {
        let start = event == .seatsAdded ? date : life.periodStart
        var payload = Self.plainTransaction
            .with("transactionId", "\"\(transactionID)\"").with("originalTransactionId", "\"\(original)\"")
            .with("webOrderLineItemId", "\"\(transactionID)\"").with("appAccountToken", "\"\(Self.account(number))\"")
            .with("appTransactionId", "\"\(Self.appTransactionID(number))\"").with("purchaseDate", "\(start)")
            .with("expiresDate", "\(life.periodStart + Self.month)").with("signedDate", "\(date - 37)")
            .with("transactionReason", life.period == 0 || event == .seatsAdded ? #""PURCHASE""# : #""RENEWAL""#)
            .with("inAppOwnershipType", "\"\(kind.ownership)\"")
            .with("storefront", "\"\(Self.storefront(number).code)\"")
            .with("storefrontId", "\"\(Self.storefront(number).id)\"")
            .with("currency", "\"\(Self.storefront(number).currency)\"")
        if event == .refund || event == .revocation || event == .seatsRefunded {
            payload = payload.with("revocationDate", "\(date - 100)").with("revocationReason", "0")
        }
        if life.offers.current { payload = payload.with(Self.retentionOffer) }
        if kind == .seats {
            // A refund of some seats does not revoke their transaction.
            let seats =
                life.revokedSeats > 0 && event.isAboutSeats
                ? SamplePayload.seats.with("revokedSeatQuantity", "\(life.revokedSeats)")
                : SamplePayload.seats.without("revokedSeatQuantity")
            payload = payload.with("quantity", "\(life.addedSeats ?? 1)").with("multiSeatInfo", seats.text)
            if life.addedSeats != nil || event == .seatsRefunded {
                payload = payload.with("additionalTransactionReason", #""SEAT_ADDITION""#)
            }
        }
        if kind == .assigned {
            // The copy has the seats of the purchaser.
            payload = payload.with("quantity", "5").with(
                "multiSeatInfo", SamplePayload.seats.without("revokedSeatQuantity").text)
        }
        guard kind == .commitment, let period = life.period else { return payload }
        let bill = period % Self.bills
        let end = life.periodStart + Self.month * Int64(Self.bills - bill)
        let commitment = SamplePayload.commitment.with("billingPeriodNumber", "\(bill + 1)").with(
            "commitmentExpiresDate", "\(end)")
        return payload.with("billingPlanType", #""MONTHLY""#).with("commitmentInfo", commitment.text)
    }

    private func renewalInfo(
        _ event: Event, _ life: Life, _ number: Int, _ kind: Kind, _ original: String
    ) -> SamplePayload {
        let renewsNextPeriod = life.renews || life.isBound(kind) && !life.isExpired
        var payload = Self.plainRenewalInfo
            .with("originalTransactionId", "\"\(original)\"").with("appAccountToken", "\"\(Self.account(number))\"")
            .with("appTransactionId", "\"\(Self.appTransactionID(number))\"")
            .with("autoRenewStatus", renewsNextPeriod ? "1" : "0")
            .with("autoRenewProductId", "\"com.example.app.\(event == .downgrade ? "basic" : "pro").monthly\"")
            .with("renewalDate", "\(life.periodStart + Self.month)").with("signedDate", "\(date - 10)")
            .with("currency", "\"\(Self.storefront(number).currency)\"")
        if event == .expiry { payload = payload.with("expirationIntent", "1") }
        if event == .gracePeriod {
            payload = payload.with("isInBillingRetryPeriod", "true").with(
                "gracePeriodExpiresDate", "\(date + Self.month)")
        }
        if life.offers.next { payload = payload.with(Self.retentionOffer) }
        if kind == .seats {
            let added = event == .seatsReduced ? 0 : (life.addedSeats ?? 0) - life.revokedSeats
            payload = payload.with("renewalQuantity", "\(1 + added)")
        }
        guard kind == .commitment, !life.isExpired else { return payload }
        let choice = SamplePayload.commitmentRenewal.with("commitmentAutoRenewStatus", life.renews ? "1" : "0").with(
            "commitmentAutoRenewProductId", #""com.example.app.pro.monthly""#)
        return payload.with("renewalBillingPlanType", #""MONTHLY""#).with("commitmentInfo", choice.text)
    }

    private static let plainTransaction = SamplePayload.transaction.without(
        "revocationDate", "revocationReason", "revocationType", "revocationPercentage", "isUpgraded", "offerType",
        "offerIdentifier", "offerDiscountType", "offerPeriod", "previousOriginalTransactionId", "advancedCommerceInfo",
        "billingPlanType", "commitmentInfo", "additionalTransactionReason", "multiSeatInfo")

    private static let plainRenewalInfo = SamplePayload.renewalInfo.without(
        "expirationIntent", "isInBillingRetryPeriod", "gracePeriodExpiresDate", "offerType", "offerIdentifier",
        "offerDiscountType", "offerPeriod", "eligibleWinBackOfferIds", "advancedCommerceInfo", "commitmentInfo",
        "renewalBillingPlanType", "priceIncreaseStatus", "renewalQuantity", "multiSeatInfo")

    private static let retentionOffer = WorldOffer.retention.members + [("offerPeriod", #""P1M""#)]

    private static func storefront(_ number: Int) -> Storefront { Storefront.all[number % Storefront.all.count] }

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

extension SamplePayload {
    fileprivate func with(_ members: [(String, String)]) -> SamplePayload {
        members.reduce(self) { $0.with($1.0, $1.1) }
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
        case .revocation: ("REVOKE", nil)
        case .offerRedeemed: ("OFFER_REDEEMED", nil)
        case .seatsAdded: ("DID_CHANGE_RENEWAL_PREF", "INCREASE_QUANTITY")
        case .seatsReduced: ("DID_CHANGE_RENEWAL_PREF", "DECREASE_QUANTITY")
        case .someSeatsRefunded, .seatsRefunded: ("REFUND", "SEATS")
        case .seatsUnclaimed: ("UNCLAIM_SEATS", nil)
        }
    }

    /// Apple's `status`.
    fileprivate func status(_ isExpired: Bool) -> Int {
        switch self {
        case .refund, .revocation: 5
        case .gracePeriod: 4
        default: isExpired ? 2 : 1
        }
    }
}
