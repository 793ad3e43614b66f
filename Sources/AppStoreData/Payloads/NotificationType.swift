import OfferCore
import OfferEligibility

package struct NotificationType: OpenValue {
    package let rawValue: String

    package init(rawValue: String) { self.rawValue = rawValue }

    package static let consumptionRequest = Self(rawValue: "CONSUMPTION_REQUEST")
    package static let didChangeRenewalPreference = Self(rawValue: "DID_CHANGE_RENEWAL_PREF")
    package static let didChangeRenewalStatus = Self(rawValue: "DID_CHANGE_RENEWAL_STATUS")
    package static let didFailToRenew = Self(rawValue: "DID_FAIL_TO_RENEW")
    package static let didRenew = Self(rawValue: "DID_RENEW")
    package static let expired = Self(rawValue: "EXPIRED")
    package static let externalPurchaseToken = Self(rawValue: "EXTERNAL_PURCHASE_TOKEN")
    package static let gracePeriodExpired = Self(rawValue: "GRACE_PERIOD_EXPIRED")
    package static let metadataUpdate = Self(rawValue: "METADATA_UPDATE")
    package static let migration = Self(rawValue: "MIGRATION")
    package static let offerRedeemed = Self(rawValue: "OFFER_REDEEMED")
    package static let oneTimeCharge = Self(rawValue: "ONE_TIME_CHARGE")
    package static let priceChange = Self(rawValue: "PRICE_CHANGE")
    package static let priceIncrease = Self(rawValue: "PRICE_INCREASE")
    package static let refund = Self(rawValue: "REFUND")
    package static let refundDeclined = Self(rawValue: "REFUND_DECLINED")
    package static let refundReversed = Self(rawValue: "REFUND_REVERSED")
    package static let renewalExtended = Self(rawValue: "RENEWAL_EXTENDED")
    package static let renewalExtension = Self(rawValue: "RENEWAL_EXTENSION")
    package static let rescindConsent = Self(rawValue: "RESCIND_CONSENT")
    package static let revoke = Self(rawValue: "REVOKE")
    package static let subscribed = Self(rawValue: "SUBSCRIBED")
    package static let test = Self(rawValue: "TEST")
    /// Members of a group gave up their seats. Its content, `unclaimInfo`, is kept raw.
    package static let unclaimSeats = Self(rawValue: "UNCLAIM_SEATS")

    /// The types that Apple had documented when this was written.
    package static let known: Set<Self> = [
        consumptionRequest, didChangeRenewalPreference, didChangeRenewalStatus, didFailToRenew, didRenew, expired,
        externalPurchaseToken, gracePeriodExpired, metadataUpdate, migration, offerRedeemed, oneTimeCharge, priceChange,
        priceIncrease, refund, refundDeclined, refundReversed, renewalExtended, renewalExtension, rescindConsent,
        revoke, subscribed, test, unclaimSeats,
    ]
}

package struct NotificationSubtype: OpenValue {
    package let rawValue: String

    package init(rawValue: String) { self.rawValue = rawValue }

    package static let accepted = Self(rawValue: "ACCEPTED")
    package static let activeTokenReminder = Self(rawValue: "ACTIVE_TOKEN_REMINDER")
    package static let autoRenewDisabled = Self(rawValue: "AUTO_RENEW_DISABLED")
    package static let autoRenewEnabled = Self(rawValue: "AUTO_RENEW_ENABLED")
    package static let billingRecovery = Self(rawValue: "BILLING_RECOVERY")
    package static let billingRetry = Self(rawValue: "BILLING_RETRY")
    package static let created = Self(rawValue: "CREATED")
    /// Seats that end with the current period.
    package static let decreaseQuantity = Self(rawValue: "DECREASE_QUANTITY")
    package static let downgrade = Self(rawValue: "DOWNGRADE")
    package static let failure = Self(rawValue: "FAILURE")
    package static let gracePeriod = Self(rawValue: "GRACE_PERIOD")
    package static let increaseQuantity = Self(rawValue: "INCREASE_QUANTITY")
    package static let initialBuy = Self(rawValue: "INITIAL_BUY")
    package static let pending = Self(rawValue: "PENDING")
    package static let priceIncrease = Self(rawValue: "PRICE_INCREASE")
    package static let productNotForSale = Self(rawValue: "PRODUCT_NOT_FOR_SALE")
    package static let resubscribe = Self(rawValue: "RESUBSCRIBE")
    /// A refund of some seats. The transaction is not revoked.
    package static let seats = Self(rawValue: "SEATS")
    package static let summary = Self(rawValue: "SUMMARY")
    package static let unreported = Self(rawValue: "UNREPORTED")
    package static let upgrade = Self(rawValue: "UPGRADE")
    package static let voluntary = Self(rawValue: "VOLUNTARY")
}
