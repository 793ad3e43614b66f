import OfferCore

/// The code of a refusal reason. The raw values are wire values, and the list is closed.
package enum ReasonCode: String, CaseIterable, Hashable, Sendable {
    // Conditions of a rule, by fact.
    case subscriptionStatus = "subscription_status"
    case autoRenew = "auto_renew"
    case renewsTo = "renews_to"
    case endedBecause = "ended_because"
    case endedAgo = "ended_ago"
    case endsIn = "ends_in"
    case renewals
    case subscribedFor = "subscribed_for"
    case paidFor = "paid_for"
    case lastPeriod = "last_period"
    case pendingOffer = "pending_offer"
    case ownership
    case priceIncrease = "price_increase"
    case rank
    case billingPlan = "billing_plan"
    case commitmentEndsIn = "commitment_ends_in"
    case commitmentPeriod = "commitment_period"
    case autoRenewChanged = "auto_renew_changed"
    case billingErrors = "billing_errors"
    case everSubscribed = "ever_subscribed"
    case introductoryOfferUsed = "introductory_offer_used"
    case refunded
    case refundPending = "refund_pending"
    case redeemed
    case winBackOffers = "win_back_offers"
    case owns
    case bought
    case originalAppVersion = "original_app_version"
    case originalPurchase = "original_purchase"
    case fact
    case date
    /// The customer is not in a sample.
    case holdout
    case environment
    case storefront
    case placement
    /// The request shows no link of the campaign.
    case link
    case shown
    case dismissed
    case firstShown = "first_shown"
    /// The customer never subscribed in a group.
    case noSubscription = "no_subscription"

    // Refusals under any rule.
    case neverSubscribed = "never_subscribed"
    case familyShared = "family_shared"
    case seatAssigned = "seat_assigned"
    case notPurchaser = "not_purchaser"
    case otherOfferPending = "other_offer_pending"
    case billingRetry = "billing_retry"
    /// App Store Connect no longer has the offer, and the app refuses such offers.
    case offerUnavailable = "offer_unavailable"

    // The ledger.
    case customerCap = "customer_cap"
    case cooldown
    case outstanding
    case totalCap = "total_cap"
    /// The grant was used, withdrawn or expired since the decision.
    case grantEnded = "grant_ended"

    /// A fact is unknown.
    case unknown
}
