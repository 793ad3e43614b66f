package import OfferCore

/// The state of one customer at one time, according to the facts.
package struct SubscriberState: Hashable, Sendable {
    /// The subscriptions, one for each `originalTransactionId`, in ascending order.
    package internal(set) var subscriptions: [Subscription] = []
    /// The redemptions by subscription, then by date.
    package internal(set) var redemptions: [Redemption] = []
    /// The refunds of all purchases, the oldest first.
    package internal(set) var refunds: [Refund] = []
    package internal(set) var refundPending = false
    /// True if all refund requests would be known. Data from devices does not contain them.
    var areRefundRequestsKnown = false
    /// True if the App Store did not answer a refresh in time.
    package internal(set) var isAppStoreSilent = false
    /// The non-consumable products that the customer owns, whether bought or shared.
    package internal(set) var nonConsumables: Set<ProductID> = []
    /// The purchases of non-consumables and non-renewing subscriptions, the oldest first.
    package internal(set) var purchases: [OneTimePurchase] = []
    package internal(set) var history: KnownHistory
    /// The storefront of the customer's latest purchase, as a three-letter code; nil if that purchase names none.
    package internal(set) var storefront: String?
    /// The Apple Accounts that the facts name.
    package internal(set) var appleAccounts: Set<TransactionID> = []
    /// The groups in which an introductory offer was used, even if it was refunded.
    package internal(set) var introductoryGroups: Set<String> = []
    /// True if an introductory offer was used in an unknown group.
    var usedIntroductoryOfferSomewhere = false
    /// True if the customer has bought a subscription.
    var hasOwnSubscription = false
    /// True if the buyer of one of the subscriptions is unknown.
    var hasUnclearSubscription = false
}

/// One matching fact is enough for `true`. A `false` needs complete data, in most cases the app's whole history.
/// Otherwise, the result is nil.
extension SubscriberState {
    /// True if the customer ever bought an auto-renewable subscription in the app. A family share or a seat does not
    /// count.
    package var everSubscribed: Bool? { hasOwnSubscription ? true : hasUnclearSubscription ? nil : no }

    package func usedIntroductoryOffer(inGroup groupID: String) -> Bool? {
        if introductoryGroups.contains(groupID) { return true }
        return usedIntroductoryOfferSomewhere ? nil : no
    }

    package func owns(_ productID: ProductID) -> Bool? { nonConsumables.contains(productID) ? true : no }

    package var everRefunded: Bool? { refunds.isEmpty ? (areRefundsKnown ? false : nil) : true }

    /// True if every refund is known.
    var areRefundsKnown: Bool { history.isOfApp && history.tellsOfConsumables }

    package var hasRefundRequest: Bool? { refundPending ? true : areRefundRequestsKnown ? false : nil }

    private var no: Bool? { history.isOfApp ? false : nil }
}
