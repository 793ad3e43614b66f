import OfferCore
import OfferEligibility

/// A subscription as the wire shows it, read from a state or expected from a history.
struct Expected: Hashable {
    var originalTransactionID = ""
    var transactionID = ""
    var productID = ""
    var group: String?
    var status = Subscription.Status.active
    var settled = true
    var autoRenews: Bool?
    var autoRenewProductID: String?
    var expiresAt: Timestamp?
    var gracePeriodExpiresAt: Timestamp?
    var endedAt: Timestamp?
    var endedBecause: Subscription.EndReason?
    var renewals = 0
    var subscribedSince: Timestamp?
    var isRunWhole = true
    var lastPeriod = Subscription.PeriodKind.regular
    var offerID: String?
    var pendingOffer: AppliedOffer?
    var priceIncrease: Subscription.PriceIncrease?
    var ownership: Subscription.Ownership?
    var refunded: [String] = []
    var refundPending = false
    var winBackOffers: [String] = []

    init() {}

    init(_ subscription: Subscription) {
        originalTransactionID = subscription.originalTransactionID.text.description
        transactionID = subscription.transactionID.text.description
        productID = subscription.productID.text.description
        group = subscription.subscriptionGroupID
        (status, settled) = (subscription.status, subscription.settled)
        autoRenews = subscription.autoRenews
        autoRenewProductID = subscription.autoRenewProductID?.text.description
        (expiresAt, gracePeriodExpiresAt) = (subscription.expiresAt, subscription.gracePeriodExpiresAt)
        (endedAt, endedBecause) = (subscription.endedAt, subscription.endedBecause)
        (renewals, subscribedSince) = (subscription.renewals, subscription.subscribedSince)
        isRunWhole = subscription.isRunWhole
        (lastPeriod, offerID) = (subscription.lastPeriod, subscription.offerID)
        (pendingOffer, priceIncrease) = (subscription.pendingOffer, subscription.priceIncrease)
        ownership = subscription.ownership
        refunded = subscription.refunds.map { "\($0.transactionID.text) \($0.at.milliseconds)" }
        refundPending = subscription.refundPending
        winBackOffers = subscription.winBackOffers
    }
}

/// The use of an offer, read from a state or expected from a history.
struct ExpectedRedemption: Hashable {
    let offerID: String
    let productID: String
    let transactionID: String?
    let at: Timestamp
}

extension ExpectedRedemption {
    init(_ redemption: Redemption) {
        self.init(
            offerID: redemption.offerID, productID: redemption.productID.text.description,
            transactionID: redemption.transactionID?.text.description, at: redemption.at)
    }
}
