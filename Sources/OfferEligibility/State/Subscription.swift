package import OfferCore

/// The state of a subscription at one time. There is one for each `originalTransactionId`.
package struct Subscription: Hashable, Sendable {
    package let originalTransactionID: TransactionID
    /// The transaction of the current period.
    package let transactionID: TransactionID
    /// The transactions that added seats during the current period, one for each line item.
    package let addedSeats: [TransactionID]
    package let productID: ProductID
    /// nil if neither the App Store nor the catalogue names it.
    package let subscriptionGroupID: String?
    package let environment: AppStoreEnvironment
    /// The start of the current period.
    package let purchasedAt: Timestamp
    package internal(set) var status: Status
    /// False if the period is over and the App Store has not reported what follows. In that case, `expired` is only
    /// likely, and ``endedAt``, ``endedBecause`` and ``renewals`` are unknown.
    package internal(set) var settled: Bool
    /// True if a renewal info for the current period is known.
    package internal(set) var hasRenewalInfo: Bool
    /// The customer's choice; nil if it is unknown. During a commitment, it is the choice for the end of the commitment,
    /// not for the next bill.
    package internal(set) var autoRenews: Bool?
    package internal(set) var autoRenewProductID: ProductID?
    /// nil if the App Store does not state it, as in receipts and in data signed before April 2026.
    package internal(set) var billingPlan: BillingPlanType?
    /// The position of the current period in a commitment; nil if it is unknown or the customer has none.
    package internal(set) var commitment: Commitment?
    /// True if the customer is in a commitment.
    package internal(set) var isCommitted: Bool
    package internal(set) var expiresAt: Timestamp?
    package internal(set) var gracePeriodExpiresAt: Timestamp?
    /// The time at which access ended; nil while the customer has access, or if ``settled`` is false.
    package internal(set) var endedAt: Timestamp?
    package internal(set) var endedBecause: EndReason?
    /// The paid renewals of the current run, including the bills of a commitment after the first. If ``isRunWhole`` is
    /// false, there may have been more.
    package internal(set) var renewals: Int
    /// The start of the current run. If ``isRunWhole`` is false, the run may have started earlier.
    package internal(set) var subscribedSince: Timestamp
    /// True if the first purchase of the run is known.
    package internal(set) var isRunWhole: Bool
    /// The paid time in the group until now. If ``isPaidTimeWhole`` is false, there may have been more.
    package internal(set) var paidFor: Duration
    package internal(set) var isPaidTimeWhole: Bool
    /// The start of the first period; nil if it is unknown.
    package let firstPurchasedAt: Timestamp?
    package internal(set) var lastPeriod: PeriodKind
    /// The offer of the current period.
    package internal(set) var offerID: String?
    /// The offer of the next period.
    package internal(set) var pendingOffer: AppliedOffer?
    package internal(set) var priceIncrease: PriceIncrease?
    /// nil if it is unknown.
    package internal(set) var ownership: Ownership?
    /// The oldest comes first.
    package internal(set) var refunds: [Refund]
    package internal(set) var refundPending: Bool
    /// The identifiers of the win-back offers that the App Store considers the customer eligible for, the best first.
    package internal(set) var winBackOffers: [String]
    /// True if ``winBackOffers`` is complete. After the end of a subscription, this needs a renewal info signed since.
    package internal(set) var areWinBackOffersKnown: Bool
    /// The last known switch of auto-renew; nil if none is known.
    package internal(set) var autoRenewChange: AutoRenewChange?
    /// The times at which the App Store could not collect a renewal, as far as its notifications are known; the oldest
    /// comes first.
    package internal(set) var billingErrors: [Timestamp]
    /// The time since which all notifications are known; nil if some recent one may be missing.
    package internal(set) var changesKnownSince: Timestamp?
    /// True if the App Store did not answer a refresh in time and the subscription's newest data is too old.
    package internal(set) var isStale: Bool

    /// Returns true if every notification about the subscription since a time is known.
    package func knowsChanges(since time: Timestamp) -> Bool { changesKnownSince.map { $0 <= time } ?? false }
}
